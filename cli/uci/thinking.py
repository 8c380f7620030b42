"""Finds the move that answers `go`.

In a dead position, where no mate is possible, every move draws. If a database has the position, the move is the best
one, with the distance to mate. Otherwise the engine searches the position within the clock: for a proof if it is an
ending, else to a depth with an evaluation. If there is no time for that, or the rules are not compiled yet, it takes
the best move by two plies. An `info string` says which.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from retrograde.cli.uci.clock import Clock
from retrograde.cli.uci.deepening import ChessSearch
from retrograde.cli.uci.lines import FiftyMoveProber, Prober, depth
from retrograde.cli.uci.searches import EndingSearches
from retrograde.cli.uci.twoply import ranked_by_two_plies
from retrograde.databases import Outcome
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.solver.play.oracles.fifty_moves import knows_fifty_move_rule
from retrograde.solver.play.tablebase.files import EndingTables, ending_on, message_of


class GoCommand(NamedTuple):
    """The input of `go`: the board (None if the position is not legal), its words, and the options."""

    board: AnyBoard | None
    words: list[str]
    options: Mapping[str, int]
    by_rule: bool
    """Whether the fifty-move rule counts."""
    past: Collection[object] = ()
    """The keys of the positions that the game has had; see `key_of` in `deepening.py`."""


class Thinker:
    """Finds moves; *say* prints lines of `info`, *remark* prints an `info string`."""

    def __init__(self, say: Callable[[str], object], remark: Callable[[str], object], tables: EndingTables):
        self.say, self.remark, self.tables = say, remark, tables
        self.searches = EndingSearches(say, remark)
        self.whole = ChessSearch(say, remark)

    def answer(self, question: GoCommand, clock: Clock) -> str:
        """Print at least one line of `info` with a score; return the text after `bestmove`."""
        board = question.board
        moves = board.moves() if board else []
        if "searchmoves" in question.words:
            moves = [move for move in question.words if move in moves] or moves
        if board is None or not moves:
            mate = board is not None and board.in_check(board.white_to_move)
            self.say(f"info depth 0 score {'mate 0' if mate else 'cp 0'}")
            return "(none)" if board else "0000"
        if board.is_dead():  # for the rules of endings the game is over; between programs it may go on
            return self.print_draws(moves, question.options["MultiPV"], clock)
        try:
            best = self.look_up_or_search(board, moves, question, clock)
        except Exception as error:
            self.remark(message_of(error))
            best = self.search(board, moves, question, clock)
        return best or self.look_two_plies(board, moves, question.options["MultiPV"], clock)

    def print_draws(self, moves: list[str], most: int, clock: Clock) -> str:
        """Print at most *most* moves of a dead position as draws; return the first."""
        for rank, move in enumerate(moves[:most], 1):
            self.say(f"info depth 1 multipv {rank} score cp 0 nodes 0 time {clock.milliseconds} pv {move}")
        return moves[0]

    def search(self, board: AnyBoard, moves: list[str], question: GoCommand, clock: Clock) -> str | None:
        """Return the best of some moves by a search of the whole game; None without time for it."""
        try:
            return self.whole.best(board, moves, question.past, clock, question.words, question.options)
        except Exception as error:  # such as castling rights of Chess960
            self.remark(message_of(error))
            return None

    def look_two_plies(self, board: AnyBoard, moves: list[str], most: int, clock: Clock) -> str:
        """Print at most *most* of the best of some moves by a look of two plies; return the first."""
        ranked = ranked_by_two_plies(board, moves, clock)
        for rank, found in enumerate(ranked[:most], 1):
            line = " ".join(found.line)
            about = f"{f'multipv {rank} ' * (most > 1)}score {found.score} time {clock.milliseconds}"
            self.say(f"info depth {len(found.line)} {about} pv {line}")
        return ranked[0].line[0]

    def look_up_or_search(self, board: AnyBoard, moves: list[str], question: GoCommand, clock: Clock) -> str | None:
        """Print and return the best of some moves, by a database or else a search; None without time for that.

        Raise RetrogradeError if no database can have the position: castling rights, too many men.
        """
        material = ending_on(board)
        position = None
        for path, solution in self.tables.with_ending(material):
            try:
                if position is None:
                    position = solution.game.read(board.fen())
                if (outcome := solution.database.get(position)) is None:
                    continue
                by_rule = question.by_rule and knows_fifty_move_rule(solution)
                prober = FiftyMoveProber(solution, position, board.count) if by_rule else Prober(solution)
                return self.print_best(prober, position, outcome, moves, question.options["MultiPV"], clock)
            except Exception as error:  # another database may have the position as well
                self.remark(f"{path}: {message_of(error)}")
                self.tables.forget(path)
        what = f"no database of {material} in {self.tables.path}"
        self.remark(f"{what}; searching; make one with: retrograde solve chess:{material}")
        return self.searches.best(material, board.fen(), moves, clock, question.options)

    def print_best(
        self, prober: Prober, position: int, outcome: Outcome, moves: list[str], most: int, clock: Clock
    ) -> str:
        """Print at most *most* of the best moves with their lines; return the first."""
        best = prober.best(position, outcome) if most == 1 else None  # one move needs fewer look-ups
        choices = [best] if best and best.name in moves else prober.ranked(position, moves, most)
        for rank, choice in enumerate(choices, 1):
            line = prober.line(choice, clock)
            self.say(
                f"info depth {depth(choice, line)} multipv {rank} score {prober.score(choice)} "
                f"nodes {prober.hits} tbhits {prober.hits} time {clock.milliseconds} pv {' '.join(line)}"
            )
        return choices[0].name
