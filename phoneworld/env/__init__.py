"""The environment contract over the simulator and over any Device. Does not know which policy acts."""
