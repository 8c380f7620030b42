"""How much of the disk the links of a tier may take: what is free, less what else a solve will still write there."""

from pathlib import Path

import psutil

BYTES_A_POSITION = 12
"""What a position takes beside its links, at most: what is known of it, in the journal, 5 bytes, and in two editions of
a checkpoint."""
MARGIN = 20
"""One part in so many of the disk's free bytes is left to others."""


def spare_disk(folder: Path, positions: int) -> int:
    """Return how many bytes links may take that are to be written to a scratch folder, of a tier of so many positions;
    less than none where there is no room even for what else there must be."""
    free = int(psutil.disk_usage(str(folder)).free)
    return free - free // MARGIN - holes(folder) - BYTES_A_POSITION * positions


def holes(folder: Path) -> int:
    """Return how many bytes of the scores of all slots have a place in a file, and are not written yet."""
    files = [file.stat() for file in folder.glob("scores*.kept")]
    return sum(max(0, about.st_size - 512 * about.st_blocks) for about in files)
