"""`python -m retrograde` is `retrograde`."""

from retrograde.cli import main

main()
