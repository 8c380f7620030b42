"""The local server: a page to play on, and JSON for other programs. Needs the extra `web`."""
