"""A chess engine that plays from databases, spoken to by UCI, the universal chess interface.

Where a database has the position, the move is the best there is, with the distance to mate. Elsewhere any legal move is
made, and an `info string` says why.
"""

import os
from collections.abc import Callable
from pathlib import Path

from retrograde.databases import Database, DatabaseFile, home_folder, list_databases, open_database
from retrograde.games.catalog import rules_digest
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.games.chess.san import uci
from retrograde.games.game import LOSE, WIN, RetrogradeError, Value
from retrograde.solver.solution import Solution

LONGEST_LINE = 60
"""Plies of the line of best play that are told."""


class Engine:
    """Answers one line at a time; *say* is given each line of the answer."""

    def __init__(self, say: Callable[[str], object]):
        self.say = say
        self.path = home_folder()
        self.board = AnyBoard.from_fen(STARTING_POSITION)
        self.solutions: dict[Path, Solution] = {}
        self.held: str | None = None
        """The answer to `go infinite`, which must wait for `stop`."""

    def answer(self, line: str) -> bool:
        """Do what one line asks for; return False where it asks to quit. What is not understood is passed over."""
        command, *words = line.split() or [""]
        if command == "quit":
            self.close()
            return False
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
        return True

    def introduce(self) -> None:
        """Say who we are and what may be set."""
        self.say("id name retrograde")
        self.say("id author the retrograde authors")
        self.say(f"option name DatabasePath type string default {home_folder()}")
        self.say("uciok")

    def set_option(self, line: str) -> None:
        """Set where the databases are: a folder, or one file."""
        name, _, value = line.partition(" name ")[2].partition(" value ")
        if name.strip().lower() != "databasepath":
            self.say(f"info string no option {name.strip()!r}; there is DatabasePath")
            return
        self.close()
        self.path = Path(value.strip()).expanduser() if value.strip() not in ("", "<empty>") else home_folder()
        if not self.path.exists():
            self.say(f"info string there is no {str(self.path)!r}")

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
            self.say(f"info string {error}; the position stays what it was")

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
                best = self.look_up(moves)
            except RetrogradeError as error:
                self.say(f"info string {error}")
                best = f"bestmove {moves[0]}"
        if "infinite" in words or "ponder" in words:
            self.held = best
        else:
            self.say(best)

    def look_up(self, moves: list[str]) -> str:
        """Return the best of some moves by the databases; raise RetrogradeError where none has the position."""
        fen = self.board.fen()
        game = Chess(ending_on(self.board))
        position = game.read(fen)
        solution = self.solution(game.material, position)
        best = next(choice for choice in solution.moves(position) if uci(position, choice.move) in moves)
        line = [uci(position, best.move)]
        before = best.position
        for choice in solution.line(best.position, LONGEST_LINE):
            line.append(uci(before, choice.move))
            before = choice.position
        self.say(f"info depth {len(line)} score {score(best.value, best.remoteness)} pv {' '.join(line)}")
        return f"bestmove {line[0]}"

    def solution(self, material: str, position: int) -> Solution:
        """Return an open database that has an ending; raise RetrogradeError where there is none."""
        for solution in self.solutions.values():
            if solution.database.get(position) is not None:
                return solution
        digest = rules_digest(Chess)
        files = [self.path] if self.path.is_file() else list_databases(self.path)
        for path in files:
            if path in self.solutions or not has_ending(path, material, digest):
                continue
            self.solutions[path] = Solution(open_checked(path))
            return self.solutions[path]
        where = os.fspath(self.path)
        raise RetrogradeError(f"no database of {material} in {where}; make one with: retrograde solve chess:{material}")

    def close(self) -> None:
        """Close all databases."""
        for solution in self.solutions.values():
            solution.close()
        self.solutions.clear()


def ending_on(board: AnyBoard) -> str:
    """Return the name of the ending on a board; raise RetrogradeError where it is none of ours."""
    letters = sorted((man for man in board.men if man not in ".Kk"), key=lambda man: men.LETTERS.index(man.upper()))
    white, black = ("".join(man for man in letters if man.isupper() == side) for side in (True, False))
    if len(letters) + 2 > men.MOST_MEN:
        raise RetrogradeError(f"{len(letters) + 2} men are on the board; databases have {men.MOST_MEN} at most")
    if board.castling != "-":
        raise RetrogradeError("no database knows castling")
    return men.ending(f"K{white}K{black}")


def has_ending(path: Path, material: str, digest: str) -> bool:
    """Tell whether a file is a database that has an ending, by the rules of today."""
    try:
        with DatabaseFile(path) as file:
            return (
                file.dense
                and (file.game_name, file.rules) == (Chess.name, digest)
                and men.tier_of(material) in file.dense_tiers.numbers
            )
    except (RetrogradeError, OSError):
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
