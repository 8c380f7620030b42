"""Names for people: of games, variants, players and pieces."""

from dataclasses import fields

from retrograde.games.contract.drawing import CHESS_MEN, Board
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, mover
from retrograde.games.contract.text import printable

MOST_LOOKED_AT = 1000
"""`first_of_other` gives up after this many positions."""

WORDS = {"misere": "misère"}
"""How options are spelled for people."""
SINGULAR = {"men": "man", "dice": "die"}
"""The singular of plurals that do not end in s."""
SIZES = (("size",), ("side",), ("width", "height"))
"""Options that are the width and the height of a board of cells."""


def title(cls: type[Game]) -> str:
    """Return the game's name for people: its `title`, or else its class name with spaces."""
    spaced = "".join(f" {sign}" if sign.isupper() else sign for sign in cls.__name__).lstrip()
    return printable(cls.title or spaced)


def variant_title(game: Game) -> str:
    """Return the variant's name for people: by default the title and the options that are not the defaults.

    The size of a board of cells is written `4 × 3`.
    """
    if own := game.variant_title():
        return printable(own)
    options = {one.name: getattr(game, one.name) for one in fields(game)}  # type: ignore[arg-type]  # a dataclass
    unusual = {one.name for one in fields(game) if options[one.name] != one.default}  # type: ignore[arg-type]
    board, size = game.draw_board(), ""
    for names in SIZES:
        width, height = options.get(names[0]), options.get(names[-1])
        if board and unusual & {*names} and board.rows == (width,) * (height or 0):
            size = f" {width} × {height}"
            unusual -= {*names}
    others = [option_in_words(name, value) for name, value in options.items() if name in unusual]
    return ", ".join([title(type(game)) + size, *others])


def option_in_words(name: str, value: object) -> str:
    """Return an option as people say it.

    >>> [option_in_words(*option) for option in [("pits", 3), ("men", 1), ("target", 50), ("misere", True)]]
    ['3 pits', '1 man', 'target 50', 'misère']
    """
    word = WORDS.get(name, name.replace("_", " "))
    if isinstance(value, bool):
        return word if value else f"without {word}"
    if isinstance(value, tuple):
        return f"{word} {'+'.join(map(str, value))}"
    if word not in SINGULAR and (not word.endswith("s") or word.endswith("ss")):
        return f"{word} {value}"
    return f"{value} {SINGULAR.get(word, word.removesuffix('s')) if value == 1 else word}"


def player_to_move(game: Game, position: int) -> str:
    """Return the name of the player to move, such as `Red`; "" if the game does not say."""
    sign = game.draw_turn(position)
    return printable(game.words.get(sign, sign))


def first_of_other(game: Game, start: int) -> int | None:
    """Return the first position found after *start* where another player is to move; None if there is none among
    MOST_LOOKED_AT positions."""
    met, waiting = {start}, [start] if game.players > 1 else []
    for position in waiting:  # the list grows meanwhile: breadth-first search
        if game.primitive(position) != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            if Traits.of(game).alternates or mover(game, child) not in (CHANCE, max(0, mover(game, start))):
                return child
            if child not in met and len(met) < MOST_LOOKED_AT:
                met.add(child)
                waiting.append(child)
    return None


def piece_name(game: Game, board: Board, sign: str) -> str:
    """Return the name of a sign on the board: `white rook`, `Red`, or else its look; "" for a dot."""
    if sign == ".":
        return ""
    look = board.pieces.get(sign, sign)
    return look if look in CHESS_MEN.values() else printable(game.words.get(sign, look))
