"""Sets of endings, such as `all=4`."""

import re

from retrograde.games.chess.men import MOST_WITH_PAWNS, TIERS


def set_of(text: str) -> list[str]:
    """Return all endings of three to N men for the text `all=N`, each after those it can lead to; [] for other texts.

    >>> set_of("all=3"), len(set_of("all=5")), set_of("KRK")
    (['KRK', 'KQK', 'KNK', 'KBK', 'KPK'], 145, [])
    """
    match = re.fullmatch(r"all=([0-9]+)", text)
    if match and not 3 <= int(match[1]) <= MOST_WITH_PAWNS:
        raise ValueError(f"all={match[1]} is no set of endings; they have 3 to {MOST_WITH_PAWNS} men")
    return [name for name in reversed(TIERS) if 3 <= len(name) <= int(match[1])] if match else []
