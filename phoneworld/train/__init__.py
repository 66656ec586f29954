"""The thin training layer: SFT, RL, mixing of real phone and mock. Needs `pip install "phoneworld[train]"`."""
