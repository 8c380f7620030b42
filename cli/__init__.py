"""The command line: `retrograde COMMAND`, a file for each command, imported only when it is called."""

import sys

try:
    from retrograde.cli.main import main
except KeyboardInterrupt:  # Ctrl-C during the imports
    sys.stderr.write("retrograde: interrupted\n")
    sys.exit(130)

__all__ = ["main"]
