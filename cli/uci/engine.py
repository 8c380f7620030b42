"""A chess engine that plays by UCI, the universal chess interface: from databases, and by search.

`go` starts a thread that finds the move (`thinking.py`), so that the engine can read on. It answers `isready` at once,
and prints the move at once after `stop` and `quit`. Other commands wait for the move if they must.

No line and no file ends the engine. It prints errors as an `info string`, one line without control characters. It
always answers `go`, with `bestmove 0000` if the position is not legal.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

from retrograde.cli.uci.clock import Clock, ClockLimits, number
from retrograde.cli.uci.deepening import key_of
from retrograde.cli.uci.thinking import GoCommand, Thinker
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.solver.play.tablebase.files import EndingTables, message_of, usual_folder

LONGEST_REMARK = 500
"""The greatest length of an `info string`, in characters."""


class Spin(NamedTuple):
    """An option that is a whole number: its default, least and greatest value."""

    default: int
    least: int
    most: int


SPINS = {"Hash": Spin(16, 1, 1 << 25), "Move Overhead": Spin(10, 0, 5000), "MultiPV": Spin(1, 1, 500)}
"""The options that are numbers. Hash is the MiB of a search's transposition table; databases need none."""
RULE = "Syzygy50MoveRule"
"""The option for the fifty-move rule, with the name that other engines use."""


class Engine:
    """Answers one line at a time. It calls *say* with each line of the answer, from one thread at a time."""

    def __init__(self, say: Callable[[str], object]):
        self.say_unlocked, self.lock = say, Lock()
        self.tables = EndingTables(self.remark)
        self.thinker = Thinker(self.say, self.remark, self.tables)
        self.options = {name: spin.default for name, spin in SPINS.items()}
        self.by_rule = True
        self.board: AnyBoard | None = AnyBoard.from_fen(STARTING_POSITION)
        """The position; None if the last one was not legal."""
        self.setup: tuple[str, list[str]] = STARTING_POSITION, []
        """FEN and moves of the board."""
        self.past: list[object] = []
        """The keys of the positions before the board, from the FEN on."""
        self.clock: Clock | None = None
        self.thread: Thread | None = None
        """The thread that finds the move."""

    def say(self, line: str) -> None:
        with self.lock:
            self.say_unlocked(line)

    def answer(self, line: str) -> bool:
        """Execute one line, or ignore it if it means nothing; return False if it is `quit`."""
        command, *words = line.split() or [""]
        if command == "quit":
            self.close()
            return False
        try:
            self.obey(command, words, line)
        except Exception as error:
            self.remark(f"{command}: {message_of(error)}")
        return True

    def obey(self, command: str, words: list[str], line: str) -> None:
        """Execute a command."""
        if command == "uci":
            self.introduce()
        elif command == "isready":
            if not self.is_thinking:
                self.tables.prepare()
                self.thinker.whole.wait()
            self.say("readyok")
        elif command == "setoption":
            self.set_option(line)
        elif command == "ucinewgame":
            self.finish()
            self.tables.refresh()
            self.thinker.whole.begin(self.options["Hash"])
        elif command == "position":
            self.set_position(words)
        elif command == "go":
            self.go(words)
        elif command in ("stop", "ponderhit"):
            self.stop()

    def remark(self, text: str) -> None:
        """Print a text for people."""
        self.say(f"info string {one_line(text)}")

    def introduce(self) -> None:
        """Print the engine's name and its options."""
        self.say(f"id name retrograde {version('retrograde')}")
        self.say("id author the retrograde authors")
        self.say(f"option name DatabasePath type string default {one_line(str(usual_folder()))}")
        for name, spin in SPINS.items():
            self.say(f"option name {name} type spin default {spin.default} min {spin.least} max {spin.most}")
        self.say(f"option name {RULE} type check default true")
        self.say("uciok")

    def set_option(self, line: str) -> None:
        """Set a number, the fifty-move rule, or the path of the databases."""
        name, _, value = line.partition(" name ")[2].partition(" value ")
        name, text = " ".join(name.split()), value.strip()
        spin = next((option for option in SPINS if option.lower() == name.lower()), None)
        if spin:
            self.set_number(spin, text)
        elif name.lower() == "databasepath":
            self.set_path(text)
        elif name.lower() == RULE.lower() and text.lower() in ("true", "false"):
            self.by_rule = text.lower() == "true"
        elif name.lower() == RULE.lower():
            self.remark(f"{RULE} must be true or false, not {text!r}")
        else:
            self.remark(f"no option {name!r}; there are DatabasePath, {', '.join(SPINS)}, {RULE}")

    def set_number(self, name: str, text: str) -> None:
        """Set an option that is a number."""
        spin, value = SPINS[name], number(text)
        if value is None or not spin.least <= value <= spin.most:
            self.remark(f"{name} must be from {spin.least} to {spin.most}, not {text!r}")
        else:
            self.options[name] = value

    def set_path(self, text: str) -> None:
        """Set the path of the databases: a folder, or one file."""
        self.finish()
        try:
            self.tables.move_to(Path(text).expanduser() if text not in ("", "<empty>") else usual_folder())
            if not self.tables.path.exists():
                self.remark(f"there is no {str(self.tables.path)!r}")
        except (OSError, RuntimeError, ValueError) as error:  # no such user, a name too long, a NUL
            self.remark(f"no path {text!r}: {message_of(error)}")

    def set_position(self, words: list[str]) -> None:
        """Set the board from the words of `position`."""
        setup, _, moves = " ".join(words).partition("moves")
        fen = STARTING_POSITION if setup.split()[:1] == ["startpos"] else setup.partition("fen")[2].strip()
        try:
            self.board = self.board_after(fen, moves.split())
            self.setup = fen, moves.split()
        except ValueError as error:
            self.board = None
            self.remark(f"{error}; go is answered by bestmove 0000 until another position is sent")

    def board_after(self, fen: str, moves: list[str]) -> AnyBoard:
        """Return the board after moves; raise ValueError if one is not legal. If a game continues, only new moves are
        made."""
        earlier_fen, earlier_moves = self.setup
        continues = earlier_fen == fen and moves[: len(earlier_moves)] == earlier_moves
        board = self.board if continues else None
        new_moves = moves[len(earlier_moves) :] if board else moves
        if board is None:
            board, self.past = AnyBoard.from_fen(fen), []
        for move in new_moves:
            if move not in board.moves():
                raise ValueError(f"no legal move {move!r} in {board.fen()}")
            self.past.append(key_of(board))
            board = board.after(move)
        return board

    # Moving

    def go(self, words: list[str]) -> None:
        """Start a thread that prints the best move."""
        self.finish()
        infinite = "infinite" in words or "ponder" in words
        limits = ClockLimits() if infinite or self.board is None else ClockLimits.of(words, self.board.white_to_move)
        self.clock = Clock.start(limits.seconds(self.options["Move Overhead"]), infinite)
        question = GoCommand(self.board, words, dict(self.options), self.by_rule, frozenset(self.past))
        self.thread = Thread(target=self.think, args=(question, self.clock), daemon=True)
        self.thread.start()

    def think(self, question: GoCommand, clock: Clock) -> None:
        """Print the best move of a question; an infinite search prints it after `stop`."""
        with suppress(OSError):  # the other program has ended
            best = self.thinker.answer(question, clock)
            if clock.infinite:
                clock.await_result(clock.stopped)
            self.say(f"bestmove {best}")

    @property
    def is_thinking(self) -> bool:
        """Whether a move is being searched, or waits for `stop`."""
        return self.thread is not None and self.thread.is_alive()

    def stop(self) -> None:
        """Print the move now, and wait for that."""
        if self.clock:
            self.clock.stop()
        self.finish()

    def finish(self) -> None:
        """Wait until the current move is printed; end an infinite search."""
        if self.clock and self.clock.infinite:
            self.clock.stop()
        if self.thread:
            self.thread.join()
            self.thread = None

    def close(self) -> None:
        self.stop()
        self.tables.close()


def one_line(text: str) -> str:
    """Return a text as one line, cut if it is long.

    >>> one_line("a\\nb\\x1b[2J"), len(one_line("x" * 5000))
    ('a b [2J', 500)
    """
    text = "".join(sign if sign.isprintable() else " " for sign in text[: LONGEST_REMARK + 1])
    return text if len(text) <= LONGEST_REMARK else f"{text[: LONGEST_REMARK - 1]}…"
