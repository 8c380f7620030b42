"""Which start of which machine this is: what its memory holds of files, no other one sees, nor any later one."""

import platform
from functools import cache
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Where Linux says it."""


@cache
def boot() -> str:
    """Return which start of the machine this is, another text for each; nothing where that is not told."""
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return ""


def machine() -> str:
    """Return a name of this machine, another one for each."""
    return f"{platform.node()} {boot()}".strip()
