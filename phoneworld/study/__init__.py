"""Policies against each other, on mocks and on the real app: raw episodes as lines, and figures made from them."""
