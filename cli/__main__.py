"""`python -m retrograde.cli` is `retrograde`."""

from retrograde.cli import main

main()
