"""Doors: the environment in the shapes that trainers and assistants take. Each converts and calls; no rules of its own."""
