"""`dumpsys`: windows, activities, keyboard, display, input. Only the lines that clients read, in the shapes they read."""

from __future__ import annotations

from phoneworld.adbd.commands.registry import dumpsys
from phoneworld.adbd.commands.system import process_number
from phoneworld.adbd.phone import full_class, screen_size, short_class, token
from phoneworld.adbd.shell import Call
from phoneworld.ui.device_state import DeviceState

DISPLAY_ID = "4619827259835644672"


async def _state(call: Call) -> DeviceState:
    return await call.device(lambda device: device.state())


def _component(state: DeviceState) -> str:
    return f"{state.package}/{short_class(state.package, state.activity)}"


def _record(state: DeviceState) -> str:
    return f"ActivityRecord{{{token(_component(state))} u0 {_component(state)} t12}}"


def _window(state: DeviceState) -> str:
    name = f"{state.package}/{full_class(state.package, state.activity)}"
    return f"Window{{{token(name)} u0 {name}}}"


@dumpsys("window")
async def window(call: Call) -> int:
    """`dumpsys window`, and its parts windows, displays, policy: each names the focus, as one or the other Android does."""
    state = await _state(call)
    size = screen_size(call.phone.info, state)
    parts = [word for word in call.args if not word.startswith("-")]
    if parts[:1] == ["policy"] or not parts:
        await call.out(
            "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mSafeMode=false mSystemReady=true mSystemBooted=true\n"
            "    mAwake=true mScreenOnEarly=true mScreenOnFully=true\n    isStatusBarKeyguard=false\n    showing=false\n"
            "    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\n"
        )
    if parts[:1] == ["displays"] or not parts:
        natural = call.phone.info.size
        await call.out(
            "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0\n"
            f"    init={natural.width}x{natural.height} {call.phone.info.density}dpi cur={size.width}x{size.height} app={size.width}x{size.height}\n"
            f"    mCurrentRotation=ROTATION_{state.rotation * 90} mRotation={state.rotation}\n"
        )
    if parts[:1] in (["windows"], ["w"]) or not parts:
        await call.out(
            "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
            f"  Window #0 {_window(state)}:\n    mDisplayId=0 mShowToOwnerOnly=true package={state.package} mAttrs={{(0,0)(fillxfill)}}\n"
            f"    isOnScreen=true\n    isVisible=true\n    mFrame=[0,0][{size.width},{size.height}]\n"
        )
        if state.keyboard:
            await call.out(
                f"  Window #1 Window{{{token('InputMethod')} u0 InputMethod}}:\n    isOnScreen=true\n    isVisible=true\n"
            )
    if parts[:1] != ["policy"]:
        await call.out(f"  mCurrentFocus={_window(state)}\n  mFocusedApp={_record(state)}\n")
        if state.keyboard:
            await call.out(f"  mInputMethodWindow=Window{{{token('InputMethod')} u0 InputMethod}}\n")
    return 0


@dumpsys("activity")
async def activity(call: Call) -> int:
    """`dumpsys activity [activities|top|…]`"""
    state = await _state(call)
    parts = [word for word in call.args if not word.startswith("-")]
    record, component = _record(state), _component(state)
    number = process_number(state.package)
    if parts[:1] == ["top"]:
        await call.out(
            f"TASK {state.package} id=12 userId=0\n  ACTIVITY {component} {token(component)} pid={number}\n    mResumed=true mStopped=false mFinished=false\n"
        )
        return 0
    if parts[:1] in (["activities"], ["a"], ["recents"]) or not parts:
        await call.out(
            "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n"
            f"  * Task{{{token(state.package)} #12 type=standard A=10101:{state.package} U=0 visible=true}}\n"
            f"    * Hist #0: {record}\n      packageName={state.package} processName={state.package}\n      state=RESUMED\n"
            f"    mResumedActivity: {record}\n  topResumedActivity={record}\n  ResumedActivity: {record}\n  mFocusedApp={record}\n"
        )
    if parts[:1] in (["processes"], ["p"]) or not parts:
        await call.out(
            f"ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n  PID #{number}: ProcessRecord{{{token('p' + state.package)} {number}:{state.package}/u0a101}}\n"
        )
    return 0


@dumpsys("input_method")
async def input_method(call: Call) -> int:
    state = await _state(call)
    shown, ime = str(state.keyboard).lower(), call.phone.input_method
    await call.out(
        f"Current Input Method Manager state:\n  mCurMethodId={ime}\n  mCurId={ime} mHaveConnection=true mBoundToMethod=true mVisibleBound=true\n"
        f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}\n"
        f"  Input method service state for {ime}:\n    mIsInputViewShown={shown} mWindowVisible={shown}\n"
    )
    return 0


@dumpsys("display")
async def display(call: Call) -> int:
    state, info = await _state(call), call.phone.info
    size = screen_size(info, state)
    await call.out(
        "DISPLAY MANAGER (dumpsys display)\n  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, "
        f"uniqueId='local:{DISPLAY_ID}', physicalPort=0, orientation={state.rotation}, logicalFrame=Rect(0, 0 - {size.width}, {size.height}), "
        f"physicalFrame=Rect(0, 0 - {size.width}, {size.height}), deviceWidth={info.size.width}, deviceHeight={info.size.height}}}]\n"
        f"  mCurrentOrientation={state.rotation}\n  mScreenState=ON\n"
    )
    return 0


@dumpsys("input")
async def input_state(call: Call) -> int:
    state = await _state(call)
    size = screen_size(call.phone.info, state)
    await call.out(
        "INPUT MANAGER (dumpsys input)\n  Viewport INTERNAL: displayId=0, "
        f"orientation={state.rotation}, logicalFrame=[0, 0, {size.width}, {size.height}], physicalFrame=[0, 0, {size.width}, {size.height}]\n"
        f"      SurfaceWidth: {size.width}px\n      SurfaceHeight: {size.height}px\n      SurfaceOrientation: {state.rotation}\n"
        f"      InputDeviceOrientation: Rotation{state.rotation * 90}\n"
    )
    return 0


@dumpsys("SurfaceFlinger")
async def surface_flinger(call: Call) -> int:
    if "--display-id" in call.args:
        await call.out(f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=PWD displayName="PhoneWorld"\n')
    else:
        await call.out("GLES: PhoneWorld, software renderer, OpenGL ES 3.2 none\n")
    return 0


@dumpsys("power")
async def power(call: Call) -> int:
    await call.out(
        "POWER MANAGER (dumpsys power)\n  mWakefulness=Awake\n  mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker=true\nDisplay Power: state=ON\n"
    )
    return 0


@dumpsys("battery")
async def battery(call: Call) -> int:
    await call.out(
        "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n  Dock powered: false\n"
        "  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 3000000\n  status: 2\n  health: 2\n"
        "  present: true\n  level: 100\n  scale: 100\n  voltage: 4200\n  temperature: 250\n  technology: Li-ion\n"
    )
    return 0


@dumpsys("meminfo")
async def memory(call: Call) -> int:
    await call.out(
        "Applications Memory Usage (in Kilobytes):\n\nTotal RAM: 4,194,304K (status normal)\n Free RAM: 3,145,728K\n Used RAM: 1,048,576K\n"
    )
    return 0
