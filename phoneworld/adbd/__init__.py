"""A phone's side of adb: sans-I/O codec, a small shell, services; over any Device. See README.md beside this."""

DEFAULT_PORT = 7555
"""Not 5555..5585: an adb server looks for emulators there by itself, and then lists the phone twice."""
