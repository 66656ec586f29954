"""Demonstrations for trainers: episodes and recorded traces as conversations and rows. Knows no policy and no score."""
