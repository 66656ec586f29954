"""Foreign recordings to StateGraph: one file a format, one registry line each."""
