"""StateGraph to Program: one pass a file, listed in order by compile.py. Knows no device and no task."""
