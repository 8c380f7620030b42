"""Flipped bits in the file of a certificate: a reader notices each, or finds what was written."""

from pathlib import Path
from random import Random
from typing import Any

from retrograde.databases import DamagedDatabase, NotADatabase, open_certificate
from retrograde.games import Game


def flips_noticed(path: Path, game: Game, stored: Any, flips: int) -> int:
    """Flip one random bit of a file, *flips* times; return how often its reader raised an error. Otherwise it must find
    the positions and replies that are *stored*."""
    whole, dice, noticed = path.read_bytes(), Random(5), 0
    for _ in range(flips):
        changed = bytearray(whole)
        changed[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        path.write_bytes(changed)
        try:
            with open_certificate(path, game=game) as certificate:
                certificate.file.check()
                assert (certificate.content.positions == stored.positions).all()
                assert (certificate.content.replies == stored.replies).all()
        except (DamagedDatabase, NotADatabase):
            noticed += 1
    return noticed
