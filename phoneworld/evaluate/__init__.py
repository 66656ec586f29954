"""Policies scored on tasks: what acts, the run, the figures and what they are written as."""
