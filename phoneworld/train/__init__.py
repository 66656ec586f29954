"""The thin policy layer: a small policy, SFT, RL, mixing of real phone and mock. Needs `pip install "phoneworld[train]"`."""
