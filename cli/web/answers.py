"""The forms of what the page is told: JSON by name, as the description of the server has it."""

from typing import Literal

from pydantic import BaseModel

from retrograde.cli.web.measured import Seats
from retrograde.games.contract.game import METRICS

ValueName = Literal["win", "tie", "draw", "lose"]


class Start(BaseModel):
    """What the start is worth to the player to move; `measure` is what another metric than remoteness says of it."""

    value: ValueName
    remoteness: int | None
    metric: str = METRICS[0]
    measure: str = ""


class Variant(BaseModel):
    """A variant that is served; some games have no start."""

    variant: str
    name: str
    positions: int
    start: Start | None


class Move(BaseModel):
    """A move: its value is for who makes it; the places it touches; and the position it leads to, where the same player
    is to move *again* or another.

    Where the value is not known, `known` says what is. `worth` is what another metric than remoteness says of the move
    (in short, for the board, `mark`), `odds` how often chance makes it, and `paid` what it pays at once, its maker
    first.

    `steps` are the places in groups, as they are pointed at, where their order matters; each place of `reach`, pointed
    at, stands for the move as well.
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


class Place(BaseModel):
    """A place of the board, and what stands on it."""

    name: str
    piece: str


class Position(BaseModel):
    """A position: the value is for the player to move; `summary` tells the rules of the game in a few words.

    `pieces` has a sign for each place and `sign` that of the player to move, as the game draws them; `end` are the
    places that have ended the game. `falls` says that pieces come from above, `editable` that positions can be set up.
    Where no database knows all, `how` says how the value is known, `known` what is known of it, and `open` whether a
    search could find out more. `measure` is what another metric than remoteness says, and `expected` the number where
    that is an expectation. At `chance` nobody is to move, and what is told is for player 0. `paid` is what an end pays
    where moves pay, too. `count` are the plies without progress, where it is known what a rule makes of them, and
    `without` what the position would be worth without that rule, if it is worth another thing.
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
    places: list[Place]
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
    """What may stand on a board: its sign, what it is called, and its picture, around 0, as parts of an SVG."""

    sign: str
    name: str
    svg: str


class Player(BaseModel):
    """A player: the sign, and what the player is called."""

    sign: str
    name: str


class BoardParts(BaseModel):
    """What positions are set up with: the men, the players, the empty board, and the start where there is one."""

    men: list[Man]
    players: list[Player]
    empty: str
    start: str | None
    first: str


class SetUp(BaseModel):
    """The position that has been set up."""

    position: str


class Step(BaseModel):
    """A position of a game, and the move that led to it; none led to the first. The value is for who is to move: `side`
    0 for who moved first, 1 for another; at `chance` player 0's. `paid` is what the move paid who made it, and the
    other."""

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


class Played(BaseModel):
    """A game as far as its moves are moves: `problem` says which is none, if any. `usual`: it begins at the start, else
    at the position that the text `start` stands for.

    `last` is all that is to be known of the last position.
    """

    variant: str
    title: str
    players: list[str]
    usual: bool
    start: str
    steps: list[Step]
    last: Position
    problem: str


class Mark(BaseModel):
    """What a move was worth to who made it, and what the best would have been; `better` are the names of those."""

    verdict: Literal["best", "slower", "mistake", "unknown"]
    value: ValueName | None
    remoteness: int | None
    best_value: ValueName | None
    best_remoteness: int | None
    better: list[str]


class Reply(BaseModel):
    """A player's move."""

    name: str
    position: str


class Count(BaseModel):
    """How many positions have a value and a remoteness."""

    value: ValueName
    remoteness: int | None
    positions: int
