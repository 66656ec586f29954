"""Episodes on disk, written while they are played, read back, played again, looked at. Knows no particular policy, and no scores."""
