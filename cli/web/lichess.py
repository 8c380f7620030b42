"""Lichess' tablebase API for standard chess: `/standard?fen=…` and `/standard/mainline?fen=…`, field for field.

What is not known is null. As in Lichess' API, `dtm` is positive for the winning side and 0 for a draw; for mate it is
null. Moves are best first, and the values of a move are for the side that answers it.

If the same ending is solved by dtz as well, `dtz` is given. With the counter in the FEN it gives the value under the
fifty-move rule. It is never rounded; for mate it is -1, as in Syzygy's tables. If the ending is solved by dtc, `dtc` is
given, with the signs of `dtm`.

Otherwise only the distance to mate without that rule is known (`solver/play/tablebase/category.py`).

As in Lichess' API, a board with castling rights or too many men is `unknown`, but the positions after its moves may be
known. Moves are also listed if the game is over for insufficient material.
"""

from contextlib import suppress
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from retrograde.cli.web.library import Library
from retrograde.databases import NoDatabase
from retrograde.databases.location import metric_named
from retrograde.games.catalog import named_game
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.board import code_on
from retrograde.games.chess.fen import white_to_move
from retrograde.games.chess.men import NOBODY, PAWN
from retrograde.games.chess.movetext import san_on
from retrograde.games.chess.san import kind_of, san, uci
from retrograde.games.chess.squares import square_of
from retrograde.games.contract.game import DRAW, LOSE, METRICS, UNDECIDED, WIN, PositionError, RetrogradeError, Value
from retrograde.games.contract.zeroing import PATIENCE, count_after
from retrograde.solver.play.answer import answer_of
from retrograde.solver.play.solution import Solution
from retrograde.solver.play.tablebase.category import NEGATED, ORDER, Category, category, dtc_of, dtz_of
from retrograde.solver.play.tablebase.files import ending_on


class EndingFacts(BaseModel):
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


class LichessMove(EndingFacts):
    """A move, and what is known of the position after it."""

    uci: str
    san: str
    zeroing: bool
    conversion: bool


class LichessPosition(EndingFacts):
    """A position and its moves."""

    moves: list[LichessMove]


class LichessStep(BaseModel):
    """A move of best play, and the distance to mate after it, for the side that answers."""

    uci: str
    san: str
    dtz: int | None = None
    precise_dtz: int | None = None
    dtm: int | None


class Mainline(BaseModel):
    """Best play to mate, or until the fifty-move rule ends the game; empty if nobody wins."""

    dtz: int | None = None
    precise_dtz: int | None = None
    dtm: int | None
    mainline: list[LichessStep]
    winner: Literal["w", "b"] | None


class EndingPosition(NamedTuple):
    """The position of a FEN, its counter of plies, and the solution that has it, or None."""

    game: Chess
    position: int
    counter: int
    solution: Solution | None


def standard(library: Library, fen: str) -> LichessPosition:
    """Return what is known of a position; raise PositionError if the FEN is invalid, and the errors of `find`."""
    board = AnyBoard.from_fen(fen)
    try:
        ending_on(board)
    except RetrogradeError:  # castling, or more men than any ending has
        answers = [move_answer_of(library, board, move) for move in board.moves()]
        answers.sort(key=lambda answer: -(answer.dtm or 0))  # soonest win first, latest loss first
        facts = facts_of_board(board, board.count)
    else:
        game, position, counter, solution = found = find(library, fen)
        if solution and not game.is_dead(position):
            answer = answer_of(solution, position, with_line=False)
            moves = [(choice.move, choice.position) for choice in answer.choices]
        else:
            moves = [(move, game.do_move(position, move)) for move in game.generate_moves(position)]
        answers = [move_answer(found, move, child) for move, child in moves]
        facts = facts_of(game, position, counter, solution)
    answers.sort(key=lambda answer: ORDER.index(answer.category))
    if answers:
        facts["category"] = NEGATED[answers[0].category]
    return LichessPosition(**facts, moves=answers)


def mainline(library: Library, fen: str) -> Mainline:
    """Return best play; raise NoDatabase if no database has the position, and PositionError if the FEN is invalid."""
    try:
        game, position, counter, solution = find(library, fen)
    except PositionError:
        raise
    except RetrogradeError as error:  # more men than any database
        raise NoDatabase(str(error)) from error
    if solution is None:
        raise NoDatabase(f"no database of {game.material} is served here")
    facts, start = facts_of(game, position, counter, solution), position
    steps: list[LichessStep] = []
    while facts["dtm"] and counter < PATIENCE and (choices := solution.moves(position)):
        move, child = choices[0].move, choices[0].position
        counter = count_after(game, position, move, counter)
        steps.append(
            LichessStep(uci=uci(position, move), san=san(game, position, move), **distances(game, child, solution))
        )
        position = child
    mate = game.primitive(position) == LOSE
    winner: Literal["w", "b"] = "b" if white_to_move(position) else "w"
    return Mainline(**distances(game, start, solution), mainline=steps, winner=winner if mate else None)


def distances(game: Any, position: int, solution: Solution) -> dict[str, int | None]:
    """Return the distances to mate and to zeroing."""
    facts = facts_of(game, position, 0, solution)
    return {name: facts[name] for name in ("dtm", "dtz", "precise_dtz")}


def find(library: Library, fen: str) -> EndingPosition:
    """Return a position and the solution that has it, None if no database does. Raise PositionError for an invalid
    FEN, or RetrogradeError."""
    board = AnyBoard.from_fen(fen)
    game = Chess(ending_on(board))
    position = game.read(board.fen())
    tier = men.tier_of(game.material)
    last_error: Exception | None = None
    for facts in library.of_game(Chess.name):
        if tier in facts.tiers:
            try:
                solution = library.open(facts)
                if solution.metric == METRICS[0] and position in solution.database:
                    return EndingPosition(game, position, board.count, solution)
            except Exception as error:  # another database may have the ending as well
                last_error = error
    if last_error:
        raise last_error
    return EndingPosition(game, position, board.count, None)


def variant_at(library: Library, name: str, text: str | None) -> str:
    """Return the variant that answers for a position: *name*, or another one of chess if the FEN's men need it."""
    plain, metric = metric_named(name)
    if text is not None and plain.startswith(f"{Chess.name}:"):
        with suppress(RetrogradeError):  # the caller reads the text again, and reports errors
            tier = men.tier_of(ending_on(AnyBoard.from_fen(text)))
            having = (facts.variant for facts in library.of_game(Chess.name) if tier in facts.tiers)
            game: Any = named_game(plain)
            if tier not in game.tiers and (found := next(having, None)):
                return f"{found}@{metric}" if metric else found
    return name


def move_answer(found: EndingPosition, move: int, child: int) -> LichessMove:
    """Return what is known of a move."""
    game, position, counter, solution = found
    return LichessMove(
        uci=uci(position, move),
        san=san(game, position, move),
        zeroing=game.zeroes(position, move),
        conversion=is_capture(position, move) or move >> 12 != 0,
        **facts_of(game, child, counter_after(counter, count_after(game, position, move, counter)), solution),
    )


def counter_after(before: int, after: int) -> int:
    """Return the counter after a move, *after* by the rules. Once it is full the game is drawn: it is never reset."""
    return before + 1 if before >= PATIENCE else after


def facts_of(game: Any, position: int, counter: int, solution: Solution | None) -> dict[str, Any]:
    """Return what is known of a position after *counter* plies without captures and pawn moves.

    `dtm` is null for mate, as in Lichess' API, and if the value is unknown.
    """
    primitive = game.primitive(position)
    dead = bool(game.is_dead(position))
    value: Value = primitive
    remoteness: int | None = 0
    if primitive == UNDECIDED and solution:
        value, remoteness = solution.value(position)
    plies = remoteness or 0
    dtz = dtz_of(position, value, solution)
    return {
        "category": category(position, value, plies, counter, dtz),
        "dtz": dtz,
        "precise_dtz": dtz,
        "dtc": dtc_of(position, solution),
        "dtm": {LOSE: -plies if plies else None, WIN: plies, DRAW: 0, UNDECIDED: None}[value],
        "checkmate": primitive == LOSE,
        "stalemate": primitive == DRAW and not dead,
        "insufficient_material": dead,
    }


# Boards without a database: with castling rights, or too many men


def move_answer_of(library: Library, board: AnyBoard, move: str) -> LichessMove:
    """Return what is known of a move on a board that is no ending. The next position may be one."""
    child = board.after(move)
    counter = counter_after(board.count, child.count)
    captures = board.captures(move)
    facts = facts_of_board(child, counter)
    with suppress(RetrogradeError):  # no ending either, or no database that can be read
        game, position, _, solution = find(library, child.fen())
        facts = facts_of(game, position, counter, solution)
    pawn = board.men[square_of(move[:2])] in "Pp"
    return LichessMove(
        uci=move, san=san_on(board, move), zeroing=captures or pawn, conversion=captures or move[4:] != "", **facts
    )


def facts_of_board(board: AnyBoard, counter: int) -> dict[str, Any]:
    """Return what the rules alone say of a board: mate (a blessed loss after PATIENCE plies), stalemate, too few men,
    or unknown."""
    no_moves, check = not board.moves(), board.in_check(board.white_to_move)
    dead = board.is_dead()
    ended: Category = "draw" if dead or no_moves else "unknown"
    if no_moves and check:
        ended = "loss" if counter <= PATIENCE else "blessed-loss"
    return {
        "category": ended,
        "dtm": 0 if ended == "draw" else None,
        "checkmate": no_moves and check,
        "stalemate": no_moves and not check and not dead,
        "insufficient_material": dead,
    }


def is_capture(position: int, move: int) -> bool:
    """Return whether a move captures, en passant included."""
    if code_on(position, move >> 6 & 63) != NOBODY:
        return True
    # A pawn that goes to another file captures. (The lowest three bits of a square are its file.)
    return kind_of(position, move) == PAWN and (move ^ move >> 6) & 7 != 0
