"""State to pixels: HTML from templates, Chromium for screenshots. Knows no rules."""
