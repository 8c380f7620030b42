"""Identifies this machine and its current boot: only they see what is in memory of a file."""

import platform
from functools import cache
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Where Linux has the identifier of the boot."""


@cache
def boot() -> str:
    """Return an identifier of the machine's current boot; "" if unknown."""
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return ""


def machine() -> str:
    """Return a unique name of this machine and its boot."""
    return f"{platform.node()} {boot()}".strip()
