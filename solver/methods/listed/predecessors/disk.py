"""The disk budget of a tier's predecessor lists: free space minus everything else that the solve will write."""

from pathlib import Path

import psutil

BYTES_A_POSITION = 12
"""Bytes on disk for each position beside its predecessor list, at most.

Scores and counters: 5 bytes in the journal, and in two editions of a checkpoint.
"""
MARGIN = 20
"""One part in this number of the free disk space is left to other programs."""


def spare_disk(folder: Path, positions: int) -> int:
    """Return the disk budget for a tier's predecessor lists, in bytes.

    *folder* is the scratch folder. Negative if the rest of the solve does not fit either.
    """
    free = int(psutil.disk_usage(str(folder)).free)
    return free - free // MARGIN - holes(folder) - BYTES_A_POSITION * positions


def holes(folder: Path) -> int:
    """Return the bytes of score files that are reserved but not written yet."""
    files = [file.stat() for file in folder.glob("scores*.kept")]
    return sum(max(0, about.st_size - 512 * about.st_blocks) for about in files)
