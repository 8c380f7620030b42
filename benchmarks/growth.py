"""How the cost of a solve grows with the game: solves Connect Four on ever larger boards, and draws what it took.

    python -m benchmarks.growth                     solves 4×4 to 6×4, and draws
    python -m benchmarks.growth 5,6 6,5             solves these boards, and draws all that have been measured
    python -m benchmarks.growth --draw              draws only

Measurements are kept in growth.csv, a row for each board; the picture is growth.svg, both axes logarithmic.
"""

import argparse
import csv
import math
import tempfile
import time
from pathlib import Path

from benchmarks.table import RETROGRADE, command_timer
from retrograde.databases import DatabaseFile

HERE = Path(__file__).parent
TABLE, PICTURE = HERE / "growth.csv", HERE / "growth.svg"
BOARDS = ["4,4", "4,5", "5,4", "5,5", "6,4"]
COLUMNS = ["board", "positions", "seconds", "cpu", "memory", "bytes"]
LINES = [
    ("seconds", "seconds", "#1f77b4"),
    ("memory", "memory, bytes", "#2ca02c"),
    ("bytes", "database, bytes", "#d62728"),
]
WIDTH, HEIGHT, LEFT, RIGHT, EDGE = 640, 440, 70, 40, 40


def solve(board: str) -> dict[str, str]:
    """Solve a board, its rules compiled before, and return a row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        solve_once = command_timer([*RETROGRADE, "solve", f"connect4:{board}", "--fresh"], folder)
        if math.prod(map(int, board.split(","))) <= 25:
            solve_once()
        began = time.perf_counter()
        cpu, peak = solve_once()
        seconds = time.perf_counter() - began
        (path,) = folder.glob("*.h5")
        with DatabaseFile(path) as file:
            row = [board.replace(",", "×"), file.positions, f"{seconds:.1f}", f"{cpu:.1f}", peak, path.stat().st_size]
    return dict(zip(COLUMNS, map(str, row), strict=True))


def read() -> dict[str, dict[str, str]]:
    """Return the rows measured, by board."""
    if not TABLE.exists():
        return {}
    with open(TABLE, newline="", encoding="utf-8") as file:
        return {row["board"]: row for row in csv.DictReader(file)}


def write(rows: dict[str, dict[str, str]]) -> None:
    """Keep the rows, the smallest board first."""
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(rows.values(), key=lambda row: int(row["positions"])))


def draw(rows: list[dict[str, str]]) -> str:
    """Return the picture, as SVG."""
    low, high = (f(math.log10(int(row["positions"])) for row in rows) for f in (min, max))
    low, high = math.floor(low), math.ceil(high)

    def across(positions: float) -> float:
        return LEFT + (math.log10(positions) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    bottom, top = -1, max(math.ceil(math.log10(float(row[key]))) for row in rows for key, *_ in LINES)

    def up(number: float) -> float:
        return HEIGHT - EDGE - (math.log10(number) - bottom) / (top - bottom) * (HEIGHT - 2 * EDGE)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        x = across(10**power)
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{EDGE}" y2="{HEIGHT - EDGE}" stroke="#ddd"/>',
            f'<text x="{x:.1f}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{label(power)}</text>',
        ]
    for power in range(bottom, top + 1):
        y = up(10**power)
        parts += [
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label(power)}</text>',
        ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">positions</text>')
    for key, name, colour in LINES:
        points = [(across(int(row["positions"])), up(float(row[key]))) for row in rows]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{points[0][0]:.1f}" y="{points[0][1] - 8:.1f}" fill="{colour}">{name}</text>')
    for k, row in enumerate(rows):
        x = across(int(row["positions"]))
        parts.append(f'<text x="{x:.1f}" y="{EDGE - (8, 22)[k % 2]}" text-anchor="middle">{row["board"]}</text>')
    return "\n".join([*parts, "</svg>", ""])


def label(power: int) -> str:
    """Return a power of ten as people read it."""
    if power < 0:
        return f"{10.0**power:g}"
    unit = ["", " k", " M", " G", " T"][power // 3]
    return f"{10 ** (power % 3)}{unit}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=BOARDS, help="boards to solve, as 5,6")
    parser.add_argument("--draw", action="store_true", help="solve nothing")
    options = parser.parse_args()
    rows = read()
    for board in [] if options.draw else options.boards:
        row = solve(board)
        rows[row["board"]] = row
        print(*row.values(), flush=True)
        write(rows)
    PICTURE.write_text(draw(sorted(rows.values(), key=lambda row: int(row["positions"]))), encoding="utf-8")


if __name__ == "__main__":
    main()
