"""Names of endings in words."""

from retrograde.games.chess.men import LETTERS, sides_of

MANY = "two", "three", "four"


def in_words(name: str) -> str:
    """Return the men of an ending in words.

    >>> in_words("KRKN"), in_words("KBBNK")
    ('King and rook against king and knight', 'King, two bishops and knight against king')
    """
    kinds = dict(zip(LETTERS, ("queen", "rook", "bishop", "knight", "pawn"), strict=False))
    sides = []
    for side in sides_of(name):
        counts = [(side.count(letter), kind) for letter, kind in kinds.items() if letter in side]
        *first, last = "king", *(kind if count == 1 else f"{MANY[count - 2]} {kind}s" for count, kind in counts)
        sides.append(" and ".join(filter(None, [", ".join(first), last])))
    return " against ".join(sides).capitalize()
