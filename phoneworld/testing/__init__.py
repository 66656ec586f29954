"""The public contract kit: one suite for every face of an environment."""
