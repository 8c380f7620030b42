"""Compiles the loops of the solver once, so that no later command has to.

Loops get the rules of a game by a port (`rules/port.py`), so machine code made for one game serves all others. Here
small games are solved by each method, verified and searched, which compiles the loops and keeps them on disk. The rules
of these games are not compiled, but for chess, which people use as it is, and for a puzzle of many positions.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from retrograde.databases import open_certificate, open_database, write_certificate
from retrograde.databases.database import BULK
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.options import SolveOptions
from retrograde.solver.rules.ports import keep_rules_interpreted
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import cores
from retrograde.solver.verification.verify import verify

STREAM = Sizes(in_memory=1)
"""Sizes by which a small game is solved like a large one."""


class SmallSolve(NamedTuple):
    """A small solve that compiles the loops of a method."""

    name: str
    variant: str
    options: SolveOptions
    compiles_rules: bool = False
    """Whether to compile the rules of the game too."""


SOLVES = (
    SmallSolve("games that are listed", "connect4:3,3", SolveOptions(method="listed")),
    SmallSolve("games that number their positions", "chess:KRK", SolveOptions(method="numbered"), compiles_rules=True),
    SmallSolve("large games, 64 positions at a time", "connect4:3,3", SolveOptions(method="setwise", sizes=STREAM)),
    SmallSolve("large games, out of core", "connect4:3,3", SolveOptions(method="streamed", sizes=STREAM)),
    SmallSolve("positions of more than 32 bits", "octal", SolveOptions(method="listed")),
    SmallSolve("games with cycles", "mutorere", SolveOptions(method="compiled")),
    SmallSolve("games that number their positions, without parents", "quixo:2", SolveOptions(method="numbered")),
    SmallSolve("chess endings", "chess:KQK", SolveOptions(method="setwise"), compiles_rules=True),
    SmallSolve("chess endings, by moves to zeroing", "chess:KQK", SolveOptions(metric="dtz"), compiles_rules=True),
    SmallSolve("men on a board, shape by shape", "teeko:3,2", SolveOptions(method="setwise")),
    SmallSolve(
        "puzzles of pieces that turn", "pocketcube:faces=2", SolveOptions(method="setwise"), compiles_rules=True
    ),
    SmallSolve("large games of short positions", "tictactoe", SolveOptions(method="streamed", sizes=STREAM)),
    SmallSolve("scores", "dotsandboxes:1,1", SolveOptions(metric="score", method="compiled")),
    SmallSolve("scores, in games that number their positions", "kalahboards:2,2", SolveOptions(method="numbered")),
    SmallSolve("nimbers", "nim", SolveOptions(metric="nimber", method="compiled")),
    SmallSolve("nimbers, more than 32 bits", "octal", SolveOptions(metric="nimber", method="compiled")),
    SmallSolve("draw levels", "mutorere", SolveOptions(metric="drawlevel", method="compiled")),
    SmallSolve("chance", "pig:target=10", SolveOptions(metric="expectation", method="compiled")),
    SmallSolve("chance, in games that number their positions", "ur:1,2,2,1", SolveOptions(method="numbered")),
)
"""The solves that compile all methods. The first one compiles what many others need. Those that take longest follow."""
CHECKED = ("tictactoe", "dodgem:2")
"""Small games with images, hints and parents."""
PROVED = ("tictactoe", "mutorere")
"""Small games, one in which every play ends, and one with cycles."""


Step = tuple[str, Callable[[Path], object]]
"""What a step compiles, and a function that does so with files in a folder."""


def warm(workers: int | None = None) -> Iterator[tuple[str, int, int]]:
    """Compile all loops; yield what has just been compiled, how many steps are done, and how many there are.

    *workers* processes share the steps; None: one for each core.
    """
    workers = workers or cores()
    first, *others = all_steps()
    count = 1 + len(others)
    with TemporaryDirectory(prefix="retrograde-") as name_of_folder:
        folder = Path(name_of_folder)
        # The first step alone: it compiles what many of the others need too.
        yield run_step(first, folder), 1, count
        names = (run_step(step, folder) for step in others) if workers == 1 else share_steps(others, folder, workers)
        for number, name in enumerate(names, 2):
            yield name, number, count


def all_steps() -> list[Step]:
    """Return all steps: the first solve, the searches, the other solves, and what is quickly compiled."""
    first, *solves = [(small.name, partial(solve_small, small)) for small in SOLVES]
    searches: list[Step] = [("searches", search_small), ("searches to a depth", search_chess)]
    return [first, *searches, *solves, ("proofs", prove_small), ("checks", check_small)]


def run_step(step: Step, folder: Path) -> str:
    """Take a step, and return what it has compiled."""
    name, compile_loops = step
    compile_loops(folder)
    return name


def share_steps(steps: list[Step], folder: Path, workers: int) -> Iterator[str]:
    """Let processes take the steps, each one after another; yield what is compiled. Raise RetrogradeError if a process
    ends too early."""
    context, waiting = get_context("spawn"), iter(steps)
    pipes = [context.Pipe() for _ in range(min(workers, len(steps)))]
    processes = [context.Process(target=take_steps, args=(theirs, folder), daemon=True) for _, theirs in pipes]
    idle, busy = [ours for ours, _ in pipes], []
    try:
        for process, (_, theirs) in zip(processes, pipes, strict=True):
            process.start()
            theirs.close()  # so that `recv` fails if the process ends
        while True:
            for step in islice(waiting, len(idle)):
                busy.append(idle.pop())
                busy[-1].send(step)
            if not busy:
                return
            ready: Any = wait(busy)
            for ours in ready:
                answer = ours.recv()
                if isinstance(answer, Exception):
                    raise answer
                yield answer
                busy.remove(ours)
                idle.append(ours)
    except (EOFError, ConnectionError):
        raise RetrogradeError("a process that compiles loops has ended; is memory short? give --workers 1") from None
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()


def take_steps(pipe: Connection, folder: Path) -> None:
    """Take the steps that come through a pipe, and send what is compiled, or the error, back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process at the other end, which ends this one
    with suppress(EOFError):
        while True:
            step = pipe.recv()
            try:
                pipe.send(run_step(step, folder))
            except Exception as error:  # the other process raises it
                pipe.send(error)


def solve_small(small: SmallSolve, folder: Path) -> None:
    """Solve a small game into a database in a folder, verify it, and look positions up in it."""
    game = load_game(small.variant)
    with nullcontext() if small.compiles_rules else keep_rules_interpreted():
        path = solve(game, folder / f"{small.name}.h5", small.options)
        with open_database(path, game=game) as database:
            verify(database, interpreted=False)
            database.lookup(([row.example for row in database.file.legend] * BULK)[:BULK])


def search_small(folder: Path) -> None:
    """Search a small game by all methods, and for nimbers of heaps."""
    from retrograde.solver.search.depth.names import depth_search_for
    from retrograde.solver.search.nim_sequence import NimSequence
    from retrograde.solver.search.prover import ProofNumberSearch
    from retrograde.solver.search.searcher import Search

    game = load_game("tictactoe")
    NimSequence(load_game("octal").heap_code).find(1)
    Search(game).find(game.start)
    ProofNumberSearch(game).find(game.start, 5.0)
    depth_search_for(game).scores(game.start, 2)


def search_chess(folder: Path) -> None:
    """Search the whole of chess to a depth. Its positions are several words."""
    from retrograde.solver.search.depth.names import depth_search_for
    from retrograde.solver.search.probing.tables import LoadedTables

    chess = load_game("chess")
    # A search that probes tables compiles other loops than one without.
    for tables in (None, LoadedTables(chess)):
        depth_search_for(chess, tables=tables).find(chess.start, 3)


def prove_small(folder: Path) -> None:
    """Prove the values of small games, and verify the certificates."""
    from retrograde.solver.search.certificates.prover import CertificateProver, ProofGoal
    from retrograde.solver.verification.certificates import verify_certificate

    for name in PROVED:
        game, path = load_game(name), folder / f"{name}.proof"
        write_certificate(path, game, CertificateProver(game, game.start, ProofGoal()).prove())
        with open_certificate(path, game=game) as certificate:
            verify_certificate(certificate, interpreted=False)


def check_small(folder: Path) -> None:
    """Check small games whose rules include all that `check` compares compiled and interpreted."""
    for name in CHECKED:
        check(load_game(name), limit=1)
