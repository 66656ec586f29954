"""Device to StateGraph: exploring, settling, journalling. Knows no compiler and no simulator."""

MARKER = "phoneworld-recorder"
"""Lets the command line tell this package from an unrelated `recorder` on PyPI."""
