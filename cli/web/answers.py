"""The JSON that the page receives, as dataclasses; the server's description lists them by name."""

import json
from dataclasses import dataclass, field
from typing import Literal

from retrograde.cli.web.metric_texts import Seats
from retrograde.games.contract.game import METRICS


def answer_text(answer: object) -> str:
    """Return an answer as JSON."""
    return json.dumps(answer, default=vars, ensure_ascii=False, separators=(",", ":"))


ValueName = Literal["win", "tie", "draw", "lose"]


@dataclass(kw_only=True)
class Start:
    """The value of the start for the player to move; `measure` is what another metric says."""

    value: ValueName
    remoteness: int | None
    metric: str = METRICS[0]
    measure: str = ""


@dataclass(kw_only=True)
class Variant:
    """A variant that is served. Some games have no start."""

    variant: str
    name: str
    positions: int
    start: Start | None


@dataclass(kw_only=True)
class Move:
    """A move: its value for the player who makes it, the places it touches, and the position it leads to.

    With *again* the same player is to move there. If the value is not known, `known` says what is. `worth` is what a
    metric other than remoteness says of the move (`mark` in short), `odds` how often chance makes it, and `paid` what
    it pays at once, first to the player who makes it; if there are several players, to each by number. `steps` are the
    places in groups, if the order in which people point at them matters. Each place in `reach` stands for the whole
    move.
    """

    name: str
    value: ValueName | None
    remoteness: int | None
    known: str = ""
    worth: str = ""
    mark: str = ""
    odds: str = ""
    paid: list[int] = field(default_factory=list)
    best: bool
    again: bool = False
    places: list[int]
    position: str
    steps: list[list[int]] = field(default_factory=list)
    reach: list[int] = field(default_factory=list)
    count: int | None = None


@dataclass(kw_only=True)
class BoardPlace:
    """A place of the board, and the piece there."""

    name: str
    piece: str


@dataclass(kw_only=True)
class Position:
    """A position: its value is for the player to move; `summary` says the rules in a few words.

    `pieces` has a sign for each place, and `sign` is that of the player to move, as the game draws them. `end` are the
    places that ended the game. `seat` is the number of the player to move. `falls`: pieces come from above. `editable`:
    positions can be set up. Without a database, `how` says how the value is known, `known` what is known of it, and
    `open` whether a search could find out more. `measure` is what a metric other than remoteness says, and `expected`
    its number if it is an expectation. At `chance` nobody is to move, and values are for player 0. `paid` is what an
    end pays if moves pay too, or if there are several players. `count` is the number of plies without progress, if a
    rule about them is known, and `without` the value without that rule, if it differs.
    """

    variant: str
    summary: str
    position: str
    svg: str
    turn: str
    value: ValueName | None
    remoteness: int | None
    known: str = ""
    how: str = ""
    open: bool = False
    distance: str
    over: bool
    ending: str
    places: list[BoardPlace]
    moves: list[Move]
    line: list[str]
    pieces: str = ""
    sign: str = ""
    end: list[int] = field(default_factory=list)
    falls: bool = False
    editable: bool = False
    title: str
    players: list[str]
    pgn: bool
    seats: Seats = "two"
    seat: int = 0
    metric: str = METRICS[0]
    measure: str = ""
    expected: float | None = None
    chance: bool = False
    paid: list[int] = field(default_factory=list)
    count: int | None = None
    without: str = ""


@dataclass(kw_only=True)
class Man:
    """A piece that may stand on a board: sign, name, and picture around 0, as parts of an SVG."""

    sign: str
    name: str
    svg: str


@dataclass(kw_only=True)
class Player:
    """A player: sign and name."""

    sign: str
    name: str


@dataclass(kw_only=True)
class BoardParts:
    """What people set up positions with: pieces, players, the empty board, and the start if there is one."""

    men: list[Man]
    players: list[Player]
    empty: str
    start: str | None
    first: str


@dataclass(kw_only=True)
class SetUp:
    """The position that was set up."""

    position: str


@dataclass(kw_only=True)
class GameStep:
    """A position of a game, with its value, and the move that led to it. The first position has no move.

    `side` is 0 for the player who moved first, 1 for another; `seat` is the player's number in the rules. At `chance`
    the value is for player 0. `paid` is what the move paid the player who made it, and the other; if
    there are several players, what it paid each by number.
    """

    name: str
    touched: list[int]
    position: str
    turn: str
    value: ValueName | None
    remoteness: int | None
    over: bool
    side: int
    seat: int = 0
    expected: float | None = None
    chance: bool = False
    paid: list[int] = field(default_factory=list)
    count: int | None = None


@dataclass(kw_only=True)
class PlayedGame:
    """A game up to the first illegal move, which `problem` describes.

    `usual`: it begins at the start, else at the position of the text `start`. `last` has all facts about the last
    position.
    """

    variant: str
    title: str
    players: list[str]
    usual: bool
    start: str
    steps: list[GameStep]
    last: Position
    problem: str


@dataclass(kw_only=True)
class MoveVerdict:
    """What a move was worth to its player, and what the best move would have been; `better` names better moves.

    If there are several players, `worth` and `best_worth` say what each player gets by the two moves.
    """

    verdict: Literal["best", "slower", "mistake", "unknown"]
    value: ValueName | None
    remoteness: int | None
    best_value: ValueName | None
    best_remoteness: int | None
    better: list[str]
    worth: str = ""
    best_worth: str = ""


@dataclass(kw_only=True)
class PlayerMove:
    """A player's move."""

    name: str
    position: str


@dataclass(kw_only=True)
class Count:
    """How many positions have a value and a remoteness."""

    value: ValueName
    remoteness: int | None
    positions: int


@dataclass(kw_only=True)
class DatabaseAbout:
    """What a database holds, and facts about its file. Without a database, `file` is empty."""

    counts: list[Count] = field(default_factory=list)
    file: str = ""
    bytes: int = 0
    positions: int = 0
    made_with: str = ""
    digest: str = ""
