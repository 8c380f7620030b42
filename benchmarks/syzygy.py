"""Tables written as Syzygy's, beside those of Syzygy's own generator: bytes, and what Stockfish makes of both.

    retrograde solve chess:all=4 --metric dtz
    retrograde export chess:all=4 --syzygy ours
    python benchmarks/syzygy.py ours THEIRS [--stockfish PROGRAM] [--positions 200] [--depth 10]

THEIRS is a folder of tables that `rtbgen` and `rtbgenp` of github.com/syzygy1/tb have made, or that were fetched. With
--stockfish it searches positions with each folder, taken by chance from what both have, and its score, first move and
number of probes are compared. Exit status 1 where one differs. Needs python-chess.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine

SUFFIXES = (".rtbw", ".rtbz")


def common(ours: Path, theirs: Path) -> list[str]:
    """Return the names of tables that are in both folders, whole."""
    names = sorted({path.stem for path in ours.glob("*.rtbw")}, key=lambda name: (len(name), name))
    folders = ours, theirs
    return [name for name in names if all((folder / f"{name}{s}").exists() for folder in folders for s in SUFFIXES)]


def print_sizes(names: list[str], ours: Path, theirs: Path) -> None:
    """Print a line for each table: the bytes of who wins, and of distances."""
    print(f"{'':<10}{'who wins':>12}{'theirs':>12}{'ratio':>7}{'distances':>14}{'theirs':>12}{'ratio':>7}")
    sums = [0] * 4
    for name in [*names, "all"]:
        if name == "all":
            sizes = sums
        else:
            sizes = [(where / f"{name}{suffix}").stat().st_size for suffix in SUFFIXES for where in (ours, theirs)]
            sums = [old + new for old, new in zip(sums, sizes, strict=True)]
        one, other, far, farther = sizes
        print(f"{name:<10}{one:>12,}{other:>12,}{one / other:>7.2f}{far:>14,}{farther:>12,}{far / farther:>7.2f}")


def positions(names: list[str], count: int, chance: random.Random) -> Iterator[chess.Board]:
    """Yield legal positions of the tables' men, by chance, that are not over."""
    while count:
        board = chess.Board(None)
        white, black = chance.choice(names).split("v")
        letters = white + black.lower()
        for letter, square in zip(letters, chance.sample(range(64), len(letters)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = chance.random() < 0.5
        if board.is_valid() and not board.is_game_over():
            count -= 1
            yield board


def searched(program: str, folder: Path, boards: list[chess.Board], depth: int) -> list[tuple[str, str, int]]:
    """Return score, first move and number of probes of a search of each position."""
    found = []
    with chess.engine.SimpleEngine.popen_uci(program) as engine:
        engine.configure({"SyzygyPath": str(folder), "Threads": 1, "Hash": 16})
        for board in boards:
            info = engine.analyse(board, chess.engine.Limit(depth=depth), game=object())
            found.append((str(info["score"]), info["pv"][0].uci(), info["tbhits"]))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Compare two folders; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("--stockfish", metavar="PROGRAM")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    names = common(options.ours, options.theirs)
    if not names:
        sys.exit("there is no table that both folders have")
    print_sizes(names, options.ours, options.theirs)
    if not options.stockfish:
        return 0
    boards = list(positions(names, options.positions, random.Random(options.seed)))
    results = [searched(options.stockfish, where, boards, options.depth) for where in (options.ours, options.theirs)]
    differ = [(board.fen(), *pair) for board, *pair in zip(boards, *results, strict=True) if pair[0] != pair[1]]
    probed = sum(probes > 0 for _, _, probes in results[0])
    print(f"\nStockfish, depth {options.depth}: {len(boards)} positions, {probed} with probes, {len(differ)} differ")
    for fen, one, other in differ[:10]:
        print(f"  {fen}: {one}, and with theirs {other}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
