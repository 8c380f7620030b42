"""What follows from a game's fields: the start, texts, the board, the editor, and `images`.

`add_members` gives these members to a class that declares fields. A class keeps its own, and those that it inherits
from a class without fields.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from retrograde.games.contract.fields.cells import EMPTY, Cells
from retrograde.games.contract.fields.layout import blank, check_arguments, fields_of, lay_out
from retrograde.games.contract.fields.numbers import Turn
from retrograde.games.contract.fields.symmetry import SymmetricImages, has_symmetries
from retrograde.games.contract.game import DERIVED, Game

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board

IMAGES = "_images"
"""The key under which a game keeps the function that returns images."""


def add_members(cls: Any) -> None:
    """Give a class the members that follow from its fields, those of its bases included. A class's own members stay.

    Runs once for each declared field.
    """
    added_before = vars(cls).get(DERIVED, {})  # when this ran for another field of the class
    # Step 1: list the members. One that only a base's fields gave goes back to the default of Game.
    of_bases = [vars(base)[DERIVED] for base in cls.__mro__[1:] if DERIVED in vars(base)]
    inherited = {name for members in of_bases for name in members}
    derived = members_of([*fields_of(cls).values()])
    derived |= {name: getattr_static(Game, name, "") for name in (inherited | added_before.keys()) - derived.keys()}
    # Step 2: set each, unless the class or a base defines it itself: only a derived member or a default is replaced.
    for name, member in derived.items():
        is_own = name in vars(cls) and vars(cls)[name] is not added_before.get(name)
        earlier = [members[name] for members in (added_before, *of_bases) if name in members]
        replaceable = *earlier, added_before.get(name), getattr_static(Game, name, None)  # None: there is no member yet
        if not is_own and getattr_static(cls, name, None) in replaceable:
            setattr(cls, name, member)
    # Step 3: read a start that is text, and lay out the fields of each game after its own `__post_init__`.
    if isinstance(start := vars(cls).get("start"), str):
        cls.start = property(lambda game: game.read(start))
    post_init = getattr(cls, "__post_init__", None)
    if not hasattr(post_init, "lays_out"):
        cls.__post_init__ = with_lay_out(post_init)
    setattr(cls, DERIVED, derived)  # also those that the class has itself, for super()


def members_of(fields: list[Any]) -> dict[str, Any]:
    """Return the members that follow from the fields of a class, by name."""
    cells = [one for one in fields if isinstance(one, Cells)]
    turns = [one for one in fields if isinstance(one, Turn)]
    found: dict[str, Any] = {"start": property(blank), "fields": texts_of_fields}
    if any(map(has_symmetries, cells)):
        found["images"] = images
    if cells:
        found |= {"board": property(lambda game: drawn_cells(game).board), "signs": signs}
    if turns:
        players = turns[0].signs
        found["draw_turn"] = draw_turn
        if not turns[0].by:
            found["to_move"] = players
        elif all(set(players) <= set(one.signs) for one in cells[:1]):
            found["by_turns"] = players
    # Board and turn say all: texts are those of the board. Otherwise they say one field after the other.
    if len(cells) == 1 and len(cells) + len(turns) == len(fields):
        found |= {"bits": cells[0].signs, "position_of": position_of}
    else:
        found |= {"write": write, "read": read, "show": show}
    return found


def with_lay_out(post_init: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """Return a `__post_init__` that also lays out the fields, after a class's own one."""

    def post_init_and_lay_out(game: Any) -> None:
        if post_init:
            post_init(game)
        lay_out(game)

    post_init_and_lay_out.lays_out = True  # type: ignore[attr-defined]  # functions may have attributes
    return wraps(post_init)(post_init_and_lay_out) if post_init else post_init_and_lay_out


def drawn_cells(game: Any) -> Cells:
    """Return the cells that pictures show: those declared first."""
    return next(one for one in fields_in(game) if isinstance(one, Cells))


def fields_in(game: Any) -> Iterable[Any]:
    """Yield the fields of a game."""
    cls: Any = type(game)  # Any: mypy thinks that classes cannot be hashed
    return (getattr(game, name) for name in names_of_fields(cls))


@lru_cache(64)
def names_of_fields(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields of a class that is complete, in the order of their bits."""
    return tuple(fields_of(cls))


# Members


def images(self: Any, position: int) -> list[int]:
    """Return the positions equal by symmetry."""
    if IMAGES not in vars(self):
        vars(self)[IMAGES] = SymmetricImages(self).interpreted()
        if type(self).images is images:  # from now on it is called without this function
            vars(self)["images"] = vars(self)[IMAGES]
    found: list[int] = vars(self)[IMAGES](position)
    return found


images.compiled_for = lambda game: SymmetricImages(game).compiled()  # type: ignore[attr-defined]  # functions may have attributes


def texts_of_fields(self: Any, position: int) -> dict[str, str]:
    """Return what each field holds, as text, by its name."""
    return {one.name: one.text(position) for one in fields_in(self)}


def signs(self: Any, position: int) -> str:
    return drawn_cells(self).sign_text(position)


def position_of(self: Any, signs: str, turn: str) -> int:
    """Return the position with these signs and this player to move; raise ValueError if there is none."""
    position: int = blank(self)
    with check_arguments(self):
        for one in fields_in(self):
            if isinstance(one, Cells):
                for cell, sign in enumerate(signs):
                    position = one.put(position, cell, (EMPTY + one.signs).index(sign))
            elif not one.by:
                position = one.parsed(position, turn)
    return position


def draw_turn(self: Any, position: int) -> str:
    """Return the sign of the player to move."""
    turn = next(one for one in fields_in(self) if isinstance(one, Turn))
    board: Board | None = self.draw_board()
    sign = turn.text(position)
    return sign if board and sign in board.pieces else ""


def write(self: Any, position: int) -> str:
    return "/".join(one.text(position) for one in fields_in(self) if one.rows)


def read(self: Any, text: str) -> int:
    """Return the position of a text, field by field."""
    parts = text.strip().replace("\n", "/").replace(" ", "").split("/")
    written = [one for one in fields_in(self) if one.rows]
    position: int = blank(self)
    if len(parts) != sum(one.rows for one in written):
        raise ValueError(f"a position says {', '.join(one.name for one in written)}, separated by /")
    with check_arguments(self):
        for one in written:
            own_parts, parts = parts[: one.rows], parts[one.rows :]
            position = one.parsed(position, "/".join(own_parts))
    return position


def show(self: Any, position: int) -> str:
    """Return the text of each field, the board in lines."""
    lines = []
    for one in fields_in(self):
        if isinstance(one, Cells):
            lines += [" ".join(row) for row in one.text(position).split("/")]
        else:
            lines.append(f"{one.name}: {one.text(position)}")
    return "\n".join(lines)
