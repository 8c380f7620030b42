"""The JSON that the page receives, as models; the server's description lists them by name."""

from typing import Literal

from pydantic import BaseModel

from retrograde.cli.web.metric_texts import Seats
from retrograde.games.contract.game import METRICS

ValueName = Literal["win", "tie", "draw", "lose"]


class Start(BaseModel):
    """The value of the start for the player to move; `measure` is what another metric says."""

    value: ValueName
    remoteness: int | None
    metric: str = METRICS[0]
    measure: str = ""


class Variant(BaseModel):
    """A variant that is served. Some games have no start."""

    variant: str
    name: str
    positions: int
    start: Start | None


class Move(BaseModel):
    """A move: its value for the player who makes it, the places it touches, and the position it leads to.

    With *again* the same player is to move there. If the value is not known, `known` says what is. `worth` is what a
    metric other than remoteness says of the move (`mark` in short, for the board), `odds` how often chance makes it,
    and `paid` what it pays at once, first to the player who makes it.

    `steps` are the places in groups, as people point at them, if their order matters. Each place in `reach` stands for
    the whole move.
    """

    name: str
    value: ValueName | None
    remoteness: int | None
    known: str = ""
    worth: str = ""
    mark: str = ""
    odds: str = ""
    paid: list[int] = []
    best: bool
    again: bool = False
    places: list[int]
    position: str
    steps: list[list[int]] = []
    reach: list[int] = []
    count: int | None = None


class BoardPlace(BaseModel):
    """A place of the board, and the piece there."""

    name: str
    piece: str


class Position(BaseModel):
    """A position: its value is for the player to move; `summary` says the rules in a few words.

    `pieces` has a sign for each place, and `sign` is that of the player to move, as the game draws them. `end` are the
    places that ended the game. `falls`: pieces come from above. `editable`: positions can be set up. Without a
    database, `how` says how the value is known, `known` what is known of it, and `open` whether a search could find out
    more. `measure` is what a metric other than remoteness says, and `expected` its number if it is an expectation. At
    `chance` nobody is to move, and values are for player 0. `paid` is what an end pays if moves pay too. `count` is the
    number of plies without progress, if a rule about them is known, and `without` the value without that rule, if it
    differs.
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
    end: list[int] = []
    falls: bool = False
    editable: bool = False
    title: str
    players: list[str]
    pgn: bool
    seats: Seats = "two"
    metric: str = METRICS[0]
    measure: str = ""
    expected: float | None = None
    chance: bool = False
    paid: list[int] = []
    count: int | None = None
    without: str = ""


class Man(BaseModel):
    """A piece that may stand on a board: sign, name, and picture around 0, as parts of an SVG."""

    sign: str
    name: str
    svg: str


class Player(BaseModel):
    """A player: sign and name."""

    sign: str
    name: str


class BoardParts(BaseModel):
    """What people set up positions with: pieces, players, the empty board, and the start if there is one."""

    men: list[Man]
    players: list[Player]
    empty: str
    start: str | None
    first: str


class SetUp(BaseModel):
    """The position that was set up."""

    position: str


class GameStep(BaseModel):
    """A position of a game, and the move that led to it; the first position has no move.

    The value is for the player to move: `side` is 0 for the player who moved first, 1 for another; at `chance` it is
    for player 0. `paid` is what the move paid the player who made it, and the other.
    """

    name: str
    touched: list[int]
    position: str
    turn: str
    value: ValueName | None
    remoteness: int | None
    over: bool
    side: int
    expected: float | None = None
    chance: bool = False
    paid: list[int] = []
    count: int | None = None


class PlayedGame(BaseModel):
    """A game up to the first move that is not legal; `problem` describes that move, if there is one.

    `usual`: the game begins at the start, else at the position of the text `start`. `last` has all facts about the last
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


class MoveVerdict(BaseModel):
    """What a move was worth to its player, and what the best move would have been; `better` names better moves."""

    verdict: Literal["best", "slower", "mistake", "unknown"]
    value: ValueName | None
    remoteness: int | None
    best_value: ValueName | None
    best_remoteness: int | None
    better: list[str]


class PlayerMove(BaseModel):
    """A player's move."""

    name: str
    position: str


class Count(BaseModel):
    """How many positions have a value and a remoteness."""

    value: ValueName
    remoteness: int | None
    positions: int
