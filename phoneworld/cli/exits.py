"""The exit codes of every verb: one number, one meaning. `phoneworld --help` and the README show this table."""

from __future__ import annotations

OK = 0
DOES_NOT_HOLD = 1
NOT_REPLAYED = 6
UNCAPTURED = 12
INTERRUPTED = 130

EXITS: dict[int, str] = {
    OK: "done",
    DOES_NOT_HOLD: "a check says no, or something without a number of its own",
    2: "an option or action that cannot be; play --strict: a step was refused or unknown",
    3: "a file that is missing, or not what it should be",
    4: "the phone: none, several, unusable, lost",
    5: "a recording that cannot be started, resumed or gone on with",
    NOT_REPLAYED: "a mock that contradicts itself; build --strict: a step does not replay",
    7: "Chromium is missing, or died",
    8: "a session that is not there, or one too many",
    9: "something has to be installed",
    10: "cannot write: full disk, no permission, somebody else's file",
    11: "a server that cannot be started, or does not answer",
    UNCAPTURED: "recorded, but the outcome of some step could not be captured",
    INTERRUPTED: "ended by Ctrl-C before it was done (serve and phone are ended so, and that is 0)",
}
"""Each exit code and what it means."""
