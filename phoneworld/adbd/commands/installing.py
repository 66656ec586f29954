"""Installing and uninstalling, honestly: the apps of this phone are those it was made with, and no others can be added."""

from __future__ import annotations

from phoneworld.adbd.apk import package_of
from phoneworld.adbd.files import MAX_TREE_BYTES
from phoneworld.adbd.phone import INPUT_METHODS, app_of
from phoneworld.adbd.pipes import Collected
from phoneworld.adbd.shell import Call
from phoneworld.errors import FileFormatError

_WITH_VALUE = {"-i", "--user", "--abi", "--install-location", "--install-reason", "--installer", "-S"}


async def install(call: Call, words: list[str]) -> int:
    """`pm install [-r …] FILE`, and `-S SIZE` with the file on stdin.

    Success where the package of the APK is one that the phone has; else a failure that says so. Nothing is changed either way.
    """
    size, path, left = None, "", list(words)
    while left:
        word = left.pop(0)
        if word == "-S":
            given = left.pop(0) if left else ""
            if not given.isdigit():
                return await call.fail("Error: -S takes the size of the file", 1)
            size = int(given)
        elif word in _WITH_VALUE:
            del left[:1]
        elif not word.startswith("-"):
            path = word
    if size is None and not path:
        return await call.fail("Error: must either specify a package size or an APK file", 1)
    if size is not None and size > MAX_TREE_BYTES:
        return await _failed(call, "INSTALL_FAILED_INSUFFICIENT_STORAGE", f"{size} bytes")
    if size is not None and path in ("", "-"):
        taken = Collected(MAX_TREE_BYTES + (2 << 20))
        while len(taken.content) < size and (chunk := await call.streams.stdin.read()):
            await taken.write(chunk)
        if len(taken.content) < size:
            return await _failed(call, "INSTALL_PARSE_FAILED_NOT_APK", f"{len(taken.content)} of {size} bytes came")
        apk = bytes(taken.content[:size])
    else:
        apk = call.phone.files.read(call.path(path))
    try:
        package = package_of(apk)
    except FileFormatError as e:
        return await _failed(call, "INSTALL_PARSE_FAILED_NOT_APK", e.message)
    if await has(call, package):
        await call.out("Success\n")
        return 0
    call.phone.refuse(f"install {package}")
    return await _failed(
        call, "INSTALL_FAILED_INTERNAL_ERROR", f"{package} is no app of this phone; it has only those it was made with"
    )


async def _failed(call: Call, code: str, why: str) -> int:
    await call.out(f"Failure [{code}: {why}]\n")
    return 1


async def has(call: Call, package: str) -> bool:
    """True for an app of the phone, and for a package whose part the phone itself plays."""
    played = {method.partition("/")[0] for method in INPUT_METHODS}
    return package in played or app_of(await call.device(lambda device: device.apps()), package) is not None


async def uninstall(call: Call, words: list[str]) -> int:
    """`pm uninstall PACKAGE`: refused for what the phone has, unknown for the rest."""
    names = [word for word in words if not word.startswith("-") and not word.isdigit()]
    if not names:
        return await call.fail("Error: package name not specified", 1)
    if not await has(call, names[0]):
        return await _failed(call, "DELETE_FAILED_INTERNAL_ERROR", f"{names[0]} is not installed")
    call.phone.refuse(f"uninstall {names[0]}")
    return await _failed(call, "DELETE_FAILED_DEVICE_POLICY_MANAGER", "the apps of this phone stay")


async def grant(call: Call, verb: str, words: list[str]) -> int:
    """`pm grant|revoke PACKAGE PERMISSION`: no app of ours asks for one, so Android's own words for that."""
    names = [word for word in words if not word.startswith("-") and not word.isdigit()]
    if len(names) < 2:
        return await call.fail("Error: no permission specified", 1)
    if not await has(call, names[0]):
        text = f"Unknown package: {names[0]}"
    else:
        text = f"Package {names[0]} has not requested permission {names[1]}"
    call.phone.refuse(f"pm {verb} {' '.join(names)}")
    return await call.fail(
        f"\nException occurred while executing '{verb}':\njava.lang.SecurityException: {text}", 255
    )
