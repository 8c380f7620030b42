"""GamesCrafters' web API, as their page GamesmanUni speaks it: /, /<game>/, /<game>/<variant>/ and its positions.

Field for field as their Universal Web API has it. The id of a variant is its options, `regular` where all are the
defaults; `gui` is "v0": positions and moves are text. An infinite remoteness is -200.
"""

from typing import Any, Literal

from pydantic import BaseModel

from retrograde.cli.web.library import Library
from retrograde.games import naming
from retrograde.games.catalog import game_class, game_names
from retrograde.games.game import DRAW, FLIPPED, Game, Value
from retrograde.solver.play.choice import Choice
from retrograde.solver.play.solution import Solution

REGULAR = "regular"
INFINITE = -200
NO_GUI = "v0"

ValueName = Literal["win", "tie", "draw", "lose"]


class GameEntry(BaseModel):
    """A game in the list of games."""

    id: str
    name: str
    type: Literal["twoPlayer"] = "twoPlayer"
    gui: str = NO_GUI


class VariantEntry(BaseModel):
    """A variant in the list of a game's."""

    id: str
    name: str
    gui: str = NO_GUI


class GameAnswer(BaseModel):
    """A game and its variants."""

    id: str
    name: str
    allowCustomVariantCreation: bool = False  # noqa: N815  # these names are the API's
    supportsWinBy: bool = False  # noqa: N815
    variants: list[VariantEntry]


class VariantAnswer(BaseModel):
    """A variant and where it starts; a game without a start gives an example."""

    id: str
    name: str
    gui: str = NO_GUI
    startPosition: str  # noqa: N815
    autoguiStartPosition: str  # noqa: N815
    imageAutoGUIData: dict[str, Any] | None = None  # noqa: N815


class MoveAnswer(BaseModel):
    """A move and where it leads."""

    move: str
    autoguiMove: str  # noqa: N815
    moveValue: ValueName  # noqa: N815
    deltaRemoteness: int  # noqa: N815
    position: str
    autoguiPosition: str  # noqa: N815
    positionValue: ValueName  # noqa: N815
    remoteness: int


class PositionAnswer(BaseModel):
    """A position and its moves, the best first."""

    position: str
    autoguiPosition: str  # noqa: N815
    positionValue: ValueName  # noqa: N815
    remoteness: int
    moves: list[MoveAnswer]


def games(library: Library) -> list[GameEntry]:
    """Return the list of games."""
    return [GameEntry(id=name, name=title(name)) for name in sorted({facts.game for facts in library.all()})]


def game(library: Library, name: str) -> GameAnswer | None:
    """Return a game's variants; None where none of them is served."""
    found = [facts.variant for facts in library.of_game(name)]
    if not found:
        return None
    entries = [VariantEntry(id=variant_id(text), name=variant_name(text)) for text in found]
    return GameAnswer(id=name, name=title(name), variants=entries)


def variant(solution: Solution) -> VariantAnswer:
    """Return what is to be known of a variant."""
    text = solution.game.write(solution.start_or_example)
    known = solution.database.file.variant
    return VariantAnswer(id=variant_id(known), name=variant_name(known), startPosition=text, autoguiStartPosition=text)


def position(solution: Solution, place: int) -> PositionAnswer:
    """Return a position and its moves."""
    text = solution.game.write(place)
    value, remoteness = solution.value(place)
    choices = solution.moves(place)
    return PositionAnswer(
        position=text,
        autoguiPosition=text,
        positionValue=name_of(value),
        remoteness=finite(remoteness),
        moves=[move(solution.game, choice, choices) for choice in choices],
    )


def move(game: Game, choice: Choice, choices: list[Choice]) -> MoveAnswer:
    """Return a move; its `deltaRemoteness` is how far its remoteness is from the best of the moves of its value."""
    best = next(other for other in choices if other.value == choice.value)
    delta = 0 if choice.value == DRAW else abs((choice.remoteness or 0) - (best.remoteness or 0))
    text = game.write(choice.position)
    return MoveAnswer(
        move=choice.name,
        autoguiMove=choice.name,
        moveValue=name_of(FLIPPED[choice.value]),
        deltaRemoteness=delta,
        position=text,
        autoguiPosition=text,
        positionValue=name_of(choice.value),
        remoteness=finite(choice.remoteness),
    )


def instructions(solution: Solution) -> str:
    """Return how a game is played, as Markdown."""
    return f"# {title(solution.game.name)}\n\n{summary(solution.game)}\n"


def variant_text(name: str, options: str) -> str:
    """Return the text of a variant from its two ids."""
    return name if options == REGULAR else f"{name}:{options}"


def variant_id(text: str) -> str:
    """Return the id of a variant beside its game's.

    >>> variant_id("connect4:width=4,height=4"), variant_id("mutorere")
    ('width=4,height=4', 'regular')
    """
    return text.partition(":")[2] or REGULAR


def variant_name(text: str) -> str:
    """Return the name of a variant for people."""
    return text.partition(":")[2] or REGULAR.capitalize()


def title(name: str) -> str:
    """Return the name of a game for people; that of a person's own file, whose rules are not asked, is as it stands."""
    return naming.title(game_class(name)) if name in game_names() else name


def summary(game: Game) -> str:
    """Return a game's rules in a sentence, from its class."""
    return (type(game).__doc__ or "").strip()


def name_of(value: Value) -> Any:
    return value.name.lower()


def finite(remoteness: int | None) -> int:
    return INFINITE if remoteness is None else remoteness
