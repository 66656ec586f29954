"""What was recorded: captures, transitions, traces. Does not know how it will be compiled."""
