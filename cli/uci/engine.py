"""A chess engine that plays from databases, spoken to by UCI, the universal chess interface.

Where a database has the position, the move is the best there is, with the distance to mate. Elsewhere any legal move is
made, and an `info string` says why.

Nothing that is said to the engine, and no file that it meets, ends it: whatever goes wrong is an `info string`, one
line without control characters, and `go` is always answered by a move.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from retrograde.databases import Database, DatabaseFile, home_folder, list_databases, open_database
from retrograde.databases.open import digest_in
from retrograde.databases.slots.read import SlotsReader
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.games.chess.san import uci
from retrograde.games.game import LOSE, WIN, RetrogradeError, Value
from retrograde.solver.play.solution import Solution

LONGEST_LINE = 60
"""Plies of the line of best play that are told."""
LONGEST_REMARK = 500
"""Characters of an `info string`."""


class Engine:
    """Answers one line at a time; *say* is given each line of the answer."""

    def __init__(self, say: Callable[[str], object]):
        self.say = say
        self.path = usual_folder()
        self.board = AnyBoard.from_fen(STARTING_POSITION)
        self.solutions: dict[Path, Solution] = {}
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
            self.say("readyok")
        elif command == "setoption":
            self.set_option(line)
        elif command == "ucinewgame":
            self.close()
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
        self.say("uciok")

    def set_option(self, line: str) -> None:
        """Set where the databases are: a folder, or one file."""
        name, _, value = line.partition(" name ")[2].partition(" value ")
        if name.strip().lower() != "databasepath":
            self.remark(f"no option {name.strip()!r}; there is DatabasePath")
            return
        self.close()
        text = value.strip()
        try:
            self.path = Path(text).expanduser() if text not in ("", "<empty>") else usual_folder()
            if not self.path.exists():
                self.remark(f"there is no {str(self.path)!r}")
        except (OSError, RuntimeError, ValueError) as error:  # no such user, a name too long, a NUL
            self.remark(f"no path {text!r}: {said_of(error)}")

    def set_position(self, words: list[str]) -> None:
        """Set up a position and make moves."""
        setup, _, moves = " ".join(words).partition("moves")
        fen = STARTING_POSITION if setup.split()[:1] == ["startpos"] else setup.partition("fen")[2].strip()
        try:
            board = AnyBoard.from_fen(fen)
            for move in moves.split():
                if move not in board.moves():
                    raise ValueError(f"no legal move {move!r} in {board.fen()}")
                board = board.after(move)
            self.board = board
        except ValueError as error:
            self.remark(f"{error}; the position stays what it was")

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
            try:
                move = self.look_up(moves)
            except Exception as error:
                self.remark(said_of(error))
                move = None
            best = f"bestmove {move or moves[0]}"
        if "infinite" in words or "ponder" in words:
            self.held = best
        else:
            self.say(best)

    def look_up(self, moves: list[str]) -> str | None:
        """Return the best of some moves by the databases; None where none has the position, which is said.

        Raises RetrogradeError where none of ours can have it.
        """
        game = Chess(ending_on(self.board))
        position = game.read(self.board.fen())
        for path, solution in self.databases_of(game.material):
            try:
                if solution.database.get(position) is None:
                    continue
                told, best = self.best_line(solution, position, moves)
            except Exception as error:  # another database may have the position as well
                self.remark(f"{os.fspath(path)}: {said_of(error)}")
                self.forget(path)
                continue
            self.say(told)
            return best
        where, make = os.fspath(self.path), f"make one with: retrograde solve chess:{game.material}"
        self.remark(f"no database of {game.material} in {where}; {make}")
        return None

    def best_line(self, solution: Solution, position: int, moves: list[str]) -> tuple[str, str]:
        """Return what to tell of the best of some moves, and the move."""
        best = next(choice for choice in solution.moves(position) if uci(position, choice.move) in moves)
        line = [uci(position, best.move)]
        before = best.position
        for choice in solution.line(best.position, LONGEST_LINE):
            line.append(uci(before, choice.move))
            before = choice.position
        return f"info depth {len(line)} score {score(best.value, best.remoteness)} pv {' '.join(line)}", line[0]

    def databases_of(self, material: str) -> Iterator[tuple[Path, Solution]]:
        """Yield the databases that are open, then those that have an ending; what cannot be opened is said."""
        yield from list(self.solutions.items())
        for path in databases_in(self.path):
            if path in self.solutions or not has_ending(path, material):
                continue
            try:
                solution = Solution(open_checked(path))
            except Exception as error:
                self.remark(f"{os.fspath(path)}: {said_of(error)}")
                continue
            self.solutions[path] = solution
            yield path, solution

    def forget(self, path: Path) -> None:
        """Close a database; it is opened anew when it is needed."""
        with suppress(Exception):  # it is one that has failed
            self.solutions.pop(path).close()

    def close(self) -> None:
        """Close all databases."""
        for path in list(self.solutions):
            self.forget(path)


def usual_folder() -> Path:
    """Return the home folder, as it is written where it names no place."""
    try:
        return home_folder()
    except RuntimeError:  # ~ of nobody
        return Path(os.environ.get("RETROGRADE_HOME", os.devnull))


def databases_in(path: Path) -> list[Path]:
    """Return the databases in a folder, or the one file itself; none where they cannot be read."""
    try:
        return [path] if path.is_file() else list_databases(path)
    except (OSError, ValueError):
        return []


def one_line(text: str) -> str:
    """Return a text as one line, cut where it is long.

    >>> one_line("a\\nb\\x1b[2J"), len(one_line("x" * 5000))
    ('a b [2J', 500)
    """
    text = "".join(sign if sign.isprintable() else " " for sign in text[: LONGEST_REMARK + 1])
    return text if len(text) <= LONGEST_REMARK else f"{text[: LONGEST_REMARK - 1]}…"


def said_of(error: Exception) -> str:
    """Return what to say of an error: our own words, and of any other its kind too."""
    if isinstance(error, RetrogradeError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def ending_on(board: AnyBoard) -> str:
    """Return the name of the ending on a board; raise RetrogradeError where it is none of ours."""
    letters = sorted((man for man in board.men if man not in ".Kk"), key=lambda man: men.LETTERS.index(man.upper()))
    white, black = ("".join(man for man in letters if man.isupper() == side) for side in (True, False))
    if len(letters) + 2 > men.MOST_MEN:
        raise RetrogradeError(f"{len(letters) + 2} men are on the board; databases have {men.MOST_MEN} at most")
    if board.castling != "-":
        raise RetrogradeError("no database knows castling")
    return men.ending(f"K{white}K{black}")


def has_ending(path: Path, material: str) -> bool:
    """Tell whether a file is a database that has an ending, by the rules of today."""
    try:
        with DatabaseFile(path) as file:
            return (
                isinstance(file.contents, SlotsReader)
                and (file.game_name, file.rules) == (Chess.name, digest_in(file.header.version)(Chess))
                and men.tier_of(material) in file.contents.tiers.numbers
            )
    except Exception:  # whatever a file does to its reader, it hinders no other
        return False


def open_checked(path: Path) -> Database:
    """Open a database of chess."""
    with DatabaseFile(path) as file:
        material = file.options["material"]
    return open_database(path, game=Chess(str(material)))


def score(value: Value, remoteness: int | None) -> str:
    """Return the score of a move that leads to such an outcome for the other side.

    >>> score(LOSE, 0), score(LOSE, 2), score(WIN, 1), score(WIN, 3)
    ('mate 1', 'mate 2', 'mate -1', 'mate -2')
    """
    plies = remoteness or 0
    if value == LOSE:
        return f"mate {plies // 2 + 1}"
    return f"mate {-(plies + 1) // 2}" if value == WIN else "cp 0"
