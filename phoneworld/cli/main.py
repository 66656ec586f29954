"""Where the command line is entered. Imports nothing heavy by itself, so that Ctrl-C is quiet from the first moment on."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

_interrupted = False


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C as Python has it, and remembered: what it tears down on its way may raise something else than KeyboardInterrupt."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def main() -> None:
    """The console entry point: our errors become one line, a hint and an exit code; Ctrl-C exits with 130."""
    global _interrupted
    _interrupted = False
    try:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        from phoneworld.cli import root
        from phoneworld.errors import PhoneWorldError

        try:
            root.command_line(sys.argv[1] if len(sys.argv) > 1 else None)()
        except PhoneWorldError as e:
            if _interrupted:
                sys.exit(130)
            root.tell(e)
            sys.exit(e.exit_code)
        except Exception as e:  # the last stop: a person gets words, and the traceback on request
            sys.exit(130 if _interrupted else root.tell_fault(e))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
