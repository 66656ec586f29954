"""A small policy: what it sees of a screen, the network that decides, and it as a Policy of environments. Knows nothing of training."""
