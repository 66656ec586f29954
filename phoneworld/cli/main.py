"""Where the command line is entered. Imports nothing heavy by itself, so that Ctrl-C is quiet from the first moment on."""

from __future__ import annotations

import sys


def main() -> None:
    """The console entry point: our errors become one line, a hint and an exit code; Ctrl-C exits with 130."""
    try:
        from phoneworld.cli import root
        from phoneworld.errors import PhoneWorldError

        try:
            root.command_line(sys.argv[1] if len(sys.argv) > 1 else None)()
        except PhoneWorldError as e:
            root.tell(e)
            sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
