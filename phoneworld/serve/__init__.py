"""FastAPI: sessions, pages, the studio. Converts and calls; has no rules of its own."""
