"""One synchronous Device protocol over many phones: real, web page, simulator. Knows no recording and no task."""
