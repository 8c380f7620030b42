"""Lichess' tablebase API for standard chess: `/standard?fen=…` and `/standard/mainline?fen=…`, field for field.

What is not known here is null. As there, `dtm` is positive for the side that wins and 0 for a draw; of a position that
is mate it is null. Moves are the best first, and what is told of a move is told from the side that answers it.

Where the same ending is solved by dtz as well, `dtz` is told, and with the counter in FEN it says what a position is
worth by the fifty-move rule. It is never rounded; of a position that is mate it is -1, as Syzygy's tables have it.
Where it is solved by dtc, `dtc` is told, with the signs of `dtm`.

Else all that is known is how far mate is, without that rule. By the counter and the distance a win may be sure: mate
comes before the counter is full. It is a `cursed-win` where the counter will be full first, and nothing may set it
back: the loser is bare, and the winner's men can win only all together. Else it is a `maybe-win`. Losses are alike.
"""

from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from retrograde.cli.uci.tables import ending_on
from retrograde.cli.web.library import Library
from retrograde.databases import NoDatabase
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.board import code_on
from retrograde.games.chess.fen import pieces, white_to_move
from retrograde.games.chess.men import NOBODY, PAWN
from retrograde.games.chess.san import kind_of, san, uci
from retrograde.games.game import DRAW, LOSE, METRICS, UNDECIDED, WIN, PositionError, RetrogradeError, Value
from retrograde.games.zeroing import category as by_the_rule
from retrograde.games.zeroing import count_after, signed
from retrograde.solver.play.solution import Solution

FULL = 100
"""Plies without a capture or a move of a pawn after which the game is a draw."""

Category = Literal["loss", "unknown", "maybe-loss", "blessed-loss", "draw", "cursed-win", "maybe-win", "win"]
NEGATED: dict[Category, Category] = {
    "loss": "win", "unknown": "unknown", "maybe-loss": "maybe-win", "blessed-loss": "cursed-win", "draw": "draw",
    "cursed-win": "blessed-loss", "maybe-win": "maybe-loss", "win": "loss",
}  # fmt: skip
"""What is told of a side, told of the other; for the side that moves, from the best to the worst."""
ORDER = list(NEGATED)


class About(BaseModel):
    """What is known of a position."""

    category: Category
    dtz: int | None = None
    precise_dtz: int | None = None
    dtw: None = None
    dtc: int | None = None
    dtm: int | None
    checkmate: bool
    stalemate: bool
    variant_win: bool = False
    variant_loss: bool = False
    insufficient_material: bool


class MoveAnswer(About):
    """A move, and what is known of the position after it."""

    uci: str
    san: str
    zeroing: bool
    conversion: bool


class Answer(About):
    """A position and its moves."""

    moves: list[MoveAnswer]


class Step(BaseModel):
    """A move of best play, and how far mate is after it, for the side that answers."""

    uci: str
    san: str
    dtz: int | None = None
    precise_dtz: int | None = None
    dtm: int | None


class Mainline(BaseModel):
    """Best play to mate, or until the fifty-move rule ends it; empty where nobody wins."""

    dtz: int | None = None
    precise_dtz: int | None = None
    dtm: int | None
    mainline: list[Step]
    winner: Literal["w", "b"] | None


class Found(NamedTuple):
    """A position that FEN stands for, its counter of plies, and the solution that has it, if there is one."""

    game: Chess
    position: int
    counter: int
    solution: Solution | None


def standard(library: Library, fen: str) -> Answer:
    """Return what is known of a position; raise as `find` does."""
    game, position, counter, solution = find(library, fen)
    if solution:
        moves = [(choice.move, choice.position) for choice in solution.moves(position)]
    elif game.primitive(position) == UNDECIDED:
        moves = [(move, game.do_move(position, move)) for move in game.generate_moves(position)]
    else:
        moves = []
    answers = [move_answer(Found(game, position, counter, solution), move, child) for move, child in moves]
    answers.sort(key=lambda answer: ORDER.index(answer.category))
    told = about(game, position, counter, solution)
    if answers:
        told["category"] = NEGATED[answers[0].category]
    return Answer(**told, moves=answers)


def mainline(library: Library, fen: str) -> Mainline:
    """Return best play; raise NoDatabase where no database has the position, and PositionError where it is none."""
    try:
        game, position, counter, solution = find(library, fen)
    except PositionError:
        raise
    except RetrogradeError as error:  # more men than any has
        raise NoDatabase(str(error)) from error
    if solution is None:
        raise NoDatabase(f"no database of {game.material} is served here")
    told, start = about(game, position, counter, solution), position
    steps: list[Step] = []
    while told["dtm"] and counter < FULL and (choices := solution.moves(position)):
        move, child = choices[0].move, choices[0].position
        counter = count_after(game, position, move, counter)
        steps.append(Step(uci=uci(position, move), san=san(game, position, move), **distances(game, child, solution)))
        position = child
    mate = game.primitive(position) == LOSE
    winner: Literal["w", "b"] = "b" if white_to_move(position) else "w"
    return Mainline(**distances(game, start, solution), mainline=steps, winner=winner if mate else None)


def distances(game: Any, position: int, solution: Solution) -> dict[str, int | None]:
    """Return how far mate and zeroing are."""
    told = about(game, position, 0, solution)
    return {name: told[name] for name in ("dtm", "dtz", "precise_dtz")}


def find(library: Library, fen: str) -> Found:
    """Return a position, and the solution that has it.

    Raises PositionError where it is none, and RetrogradeError where it has more men than any ending of ours, or where
    no database can be read that should have it.
    """
    try:
        board = AnyBoard.from_fen(fen.replace("_", " "))
        game = Chess(ending_on(board))
        position = game.read(board.fen())
    except ValueError as error:
        raise PositionError(str(error)) from error
    tier = men.tier_of(game.material)
    unread: Exception | None = None
    for facts in library.of_game(Chess.name):
        if tier in facts.tiers:
            try:
                solution = library.open(facts)
                if solution.metric == METRICS[0] and position in solution.database:
                    return Found(game, position, board.count, solution)
            except Exception as error:  # another database may have the ending as well
                unread = error
    if unread:
        raise unread
    return Found(game, position, board.count, None)


def move_answer(found: Found, move: int, child: int) -> MoveAnswer:
    """Return what is known of a move."""
    game, position, counter, solution = found
    return MoveAnswer(
        uci=uci(position, move),
        san=san(game, position, move),
        zeroing=game.zeroes(position, move),
        conversion=is_capture(position, move) or move >> 12 != 0,
        **about(game, child, count_after(game, position, move, counter), solution),
    )


def about(game: Any, position: int, counter: int, solution: Solution | None) -> dict[str, Any]:
    """Return what is known of a position where so many plies were neither captures nor moves of pawns."""
    over = game.primitive(position)
    dead = bool(game.is_dead(position))
    value: Value = over
    remoteness: int | None = 0
    if over == UNDECIDED and solution:
        value, remoteness = solution.value(position)
    plies = remoteness or 0
    dtz = dtz_of(position, value, solution)
    by_rule = by_the_rule(value, abs(dtz) if plies else 0, counter) if dtz is not None else None
    return {
        "category": by_rule or category(game, position, value, plies, counter),
        "dtz": dtz,
        "precise_dtz": dtz,
        "dtc": dtc_of(position, solution),
        "dtm": {LOSE: -plies or None, WIN: plies, DRAW: 0, UNDECIDED: None}[value],
        "checkmate": over == LOSE,
        "stalemate": over == DRAW and not dead,
        "insufficient_material": dead,
    }


def dtz_of(position: int, value: Value, solution: Solution | None) -> int | None:
    """Return the distance to zeroing of a position; None where it is not known."""
    if not (found := solution and solution.by_zeroing(position)):
        return None
    return signed(*found) or (-1 if value == LOSE else 0)


def dtc_of(position: int, solution: Solution | None) -> int | None:
    """Return the distance to conversion of a position; None where it is not known, and of one that is mate."""
    if not (found := solution and solution.by_conversion(position)):
        return None
    return signed(*found) or (None if found.value == LOSE else 0)


def category(game: Any, position: int, value: Value, plies: int, counter: int) -> Category:
    """Return what a position is worth by the fifty-move rule, as far as its distance to mate tells."""
    if value in (DRAW, UNDECIDED):
        return "draw" if value == DRAW else "unknown"
    if plies + counter <= FULL:
        told: Category = "win"
    elif counter >= FULL or (plies and wins_all_together(position, value)):
        told = "cursed-win"
    else:
        told = "maybe-win"
    return told if value == WIN else NEGATED[told]


def wins_all_together(position: int, value: Value) -> bool:
    """Tell whether nothing sets the counter back: the loser is bare, and fewer men than the winner's could not win.

    They are a queen, a rook, two bishops, or a bishop and a knight.
    """
    white_wins = white_to_move(position) == (value == WIN)
    sides: tuple[list[str], list[str]] = ([], [])
    for letter in pieces(position).values():
        if letter not in "Kk":
            sides[letter.isupper() == white_wins].append(letter.upper())
    loser, winner = sides
    return not loser and (winner in (["Q"], ["R"]) or (len(winner) == 2 and set(winner) <= {"B", "N"}))


def is_capture(position: int, move: int) -> bool:
    """Tell whether a move captures, en passant or not."""
    if code_on(position, move >> 6 & 63) != NOBODY:
        return True
    return kind_of(position, move) == PAWN and (move ^ move >> 6) & 7 != 0
