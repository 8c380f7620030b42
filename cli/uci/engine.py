"""A chess engine that plays from databases, spoken to by UCI, the universal chess interface.

Where a database has the position, the move is the best there is, with the distance to mate. Where none has it, the
position is searched within the clock; where there is no time for that, or it is no position of ours, any legal move is
made. An `info string` says so.

Nothing that is said to the engine, and no file that it meets, ends it: whatever goes wrong is an `info string`, one
line without control characters, and `go` is always answered by a move.
"""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from retrograde.cli.uci.limits import Limits, number
from retrograde.cli.uci.lines import CountingProber, Prober, depth
from retrograde.cli.uci.searches import Searches
from retrograde.databases import Outcome
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.solver.oracles.counting import counts
from retrograde.solver.play.solution import Solution
from retrograde.solver.tablebase.files import Tables, ending_on, said_of, usual_folder

LONGEST_REMARK = 500
"""Characters of an `info string`."""


class Spin(NamedTuple):
    """An option that is a whole number."""

    default: int
    least: int
    most: int


SPINS = {"Hash": Spin(16, 1, 1 << 25), "Move Overhead": Spin(10, 0, 5000), "MultiPV": Spin(1, 1, 500)}
"""The options that are numbers. Hash is the MiB of the table of a search; databases need none."""
RULE = "Syzygy50MoveRule"
"""The option by which the fifty-move rule counts, as other engines call it."""


class Engine:
    """Answers one line at a time; *say* is given each line of the answer."""

    def __init__(self, say: Callable[[str], object]):
        self.say = say
        self.tables = Tables(self.remark)
        self.searches = Searches(say, self.remark)
        self.options = {name: spin.default for name, spin in SPINS.items()}
        self.by_rule = True
        self.board = AnyBoard.from_fen(STARTING_POSITION)
        self.setup: tuple[str, list[str]] = STARTING_POSITION, []
        """What the board was set up by: FEN and moves."""
        self.held: str | None = None
        """The answer to `go infinite`, which must wait for `stop`."""

    def answer(self, line: str) -> bool:
        """Do what one line asks for; return False where it asks to quit. What is not understood is passed over.

        Raises nothing but what *say* raises.
        """
        command, *words = line.split() or [""]
        if command == "quit":
            self.close()
            return False
        try:
            self.obey(command, words, line)
        except Exception as error:
            self.remark(f"{command}: {said_of(error)}")
        return True

    def obey(self, command: str, words: list[str], line: str) -> None:
        """Do what a command asks for."""
        if command == "uci":
            self.introduce()
        elif command == "isready":
            self.tables.prepare()
            self.say("readyok")
        elif command == "setoption":
            self.set_option(line)
        elif command == "ucinewgame":
            self.tables.refresh()
        elif command == "position":
            self.set_position(words)
        elif command == "go":
            self.go(words)
        elif command in ("stop", "ponderhit") and self.held:
            self.say(self.held)
            self.held = None

    def remark(self, text: str) -> None:
        """Tell a person something."""
        self.say(f"info string {one_line(text)}")

    def introduce(self) -> None:
        """Say who we are and what may be set."""
        self.say("id name retrograde")
        self.say("id author the retrograde authors")
        self.say(f"option name DatabasePath type string default {one_line(str(usual_folder()))}")
        for name, spin in SPINS.items():
            self.say(f"option name {name} type spin default {spin.default} min {spin.least} max {spin.most}")
        self.say(f"option name {RULE} type check default true")
        self.say("uciok")

    def set_option(self, line: str) -> None:
        """Set a number, whether the fifty-move rule counts, or where the databases are."""
        name, _, value = line.partition(" name ")[2].partition(" value ")
        name, text = " ".join(name.split()), value.strip()
        spin = next((known for known in SPINS if known.lower() == name.lower()), None)
        if spin:
            self.set_number(spin, text)
        elif name.lower() == "databasepath":
            self.set_path(text)
        elif name.lower() == RULE.lower():
            self.set_rule(text)
        else:
            self.remark(f"no option {name!r}; there are DatabasePath, {', '.join(SPINS)}, {RULE}")

    def set_number(self, name: str, text: str) -> None:
        """Set an option that is a number."""
        spin, value = SPINS[name], number(text)
        if value is None or not spin.least <= value <= spin.most:
            self.remark(f"{name} must be from {spin.least} to {spin.most}, not {text!r}")
        else:
            self.options[name] = value

    def set_rule(self, text: str) -> None:
        """Set whether the fifty-move rule counts."""
        if text.lower() in ("true", "false"):
            self.by_rule = text.lower() == "true"
        else:
            self.remark(f"{RULE} must be true or false, not {text!r}")

    def set_path(self, text: str) -> None:
        """Set where the databases are: a folder, or one file."""
        try:
            self.tables.move_to(Path(text).expanduser() if text not in ("", "<empty>") else usual_folder())
            if not self.tables.path.exists():
                self.remark(f"there is no {str(self.tables.path)!r}")
        except (OSError, RuntimeError, ValueError) as error:  # no such user, a name too long, a NUL
            self.remark(f"no path {text!r}: {said_of(error)}")

    def set_position(self, words: list[str]) -> None:
        """Set up a position and make moves."""
        setup, _, moves = " ".join(words).partition("moves")
        fen = STARTING_POSITION if setup.split()[:1] == ["startpos"] else setup.partition("fen")[2].strip()
        try:
            self.board = self.board_after(fen, moves.split())
            self.setup = fen, moves.split()
        except ValueError as error:
            self.remark(f"{error}; the position stays what it was")

    def board_after(self, fen: str, moves: list[str]) -> AnyBoard:
        """Return the board after moves; raise ValueError where one is not legal.

        Where a game goes on, only what is new is made: a program sends all of it with every move.
        """
        before, done = self.setup
        known = before == fen and moves[: len(done)] == done
        board = self.board if known else AnyBoard.from_fen(fen)
        for move in moves[len(done) if known else 0 :]:
            if move not in board.moves():
                raise ValueError(f"no legal move {move!r} in {board.fen()}")
            board = board.after(move)
        return board

    # Moving

    def go(self, words: list[str]) -> None:
        """Tell the best move, or any legal one."""
        moves = self.board.moves()
        if "searchmoves" in words:
            moves = [move for move in words if move in moves] or moves
        if not moves:
            self.say(f"info depth 0 score {'mate 0' if self.board.in_check(self.board.white_to_move) else 'cp 0'}")
            best = "bestmove (none)"
        else:
            waits = "infinite" in words or "ponder" in words
            limits = Limits() if waits else Limits.of(words, self.board.white_to_move)
            try:
                move = self.look_up(moves, limits.seconds(self.options["Move Overhead"]))
            except Exception as error:
                self.remark(said_of(error))
                move = None
            best = f"bestmove {move or moves[0]}"
        if "infinite" in words or "ponder" in words:
            self.held = best
        else:
            self.say(best)

    def look_up(self, moves: list[str], seconds: float | None) -> str | None:
        """Return the best of some moves by the databases, or by search where none has the position, which is said; None
        where there is no time for that.

        Lines are worked out in so many *seconds*, if any; with None, in whatever it takes. Raises RetrogradeError where
        none of ours can have the position.
        """
        began = monotonic()
        material = ending_on(self.board)
        position = None
        for path, solution in self.tables.of_ending(material):
            try:
                if position is None:
                    position = solution.game.read(self.board.fen())
                if (outcome := solution.database.get(position)) is None:
                    continue
                prober = self.prober(solution, position)
                return self.tell(prober, position, outcome, moves, (began, seconds))
            except Exception as error:  # another database may have the position as well
                self.remark(f"{path}: {said_of(error)}")
                self.tables.forget(path)
        what = f"no database of {material} in {self.tables.path}"
        self.remark(f"{what}; it is searched; make one with: retrograde solve chess:{material}")
        deadline = None if seconds is None else began + seconds
        return self.searches.best(material, self.board.fen(), moves, deadline, self.options["Hash"])

    def prober(self, solution: Solution, position: int) -> Prober:
        """Return who looks up the moves of the position on the board, by the fifty-move rule where that is known."""
        if self.by_rule and counts(solution):
            return CountingProber(solution, position, self.board.count)
        return Prober(solution)

    def tell(
        self, prober: Prober, position: int, outcome: Outcome, moves: list[str], time: tuple[float, float | None]
    ) -> str:
        """Tell the best of some moves, as many as MultiPV wants, with their lines, and return the first."""
        began, seconds = time
        deadline = None if seconds is None else began + seconds
        most = self.options["MultiPV"]
        best = prober.best(position, outcome) if most == 1 else None
        choices = [best] if best and best.name in moves else prober.ranked(position, moves, most)
        for rank, choice in enumerate(choices, 1):
            line = prober.line(choice, deadline) if seconds != 0 else [choice.name]
            passed = round(1000 * (monotonic() - began))
            self.say(
                f"info depth {depth(choice, line)} multipv {rank} score {prober.score(choice)} "
                f"nodes {prober.hits} tbhits {prober.hits} time {passed} pv {' '.join(line)}"
            )
        return choices[0].name

    def close(self) -> None:
        """Close all databases."""
        self.tables.close()


def one_line(text: str) -> str:
    """Return a text as one line, cut where it is long.

    >>> one_line("a\\nb\\x1b[2J"), len(one_line("x" * 5000))
    ('a b [2J', 500)
    """
    text = "".join(sign if sign.isprintable() else " " for sign in text[: LONGEST_REMARK + 1])
    return text if len(text) <= LONGEST_REMARK else f"{text[: LONGEST_REMARK - 1]}…"
