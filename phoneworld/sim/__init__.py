"""Program to behaviour: immutable states and a pure step. Does no I/O, knows no pixels and no tasks."""
