"""The table of solved games: `docs/solved.md` is made from `solved.csv`, whose rows this program computes again.

    python benchmarks/solved.py                     # list the rows
    python benchmarks/solved.py ROW…                # run the commands of these rows, and compare what they find
    python benchmarks/solved.py --below 20          # all rows that took less than 20 CPU seconds
    python benchmarks/solved.py --fill ROW…         # write what they find into solved.csv, instead of comparing
    python benchmarks/solved.py --write             # write the tables of docs/solved.md

A row is named by its variant and options, as in `kalah:4,3 --metric score`, or else by any part of its command.
Databases are made in a temporary folder. Positions, start and digest must come out the same anywhere; CPU seconds,
memory and bytes are those of one machine. The digest is the first part of the `digest` in the database: the same for
all that hold the same outcomes.
"""

import argparse
import csv
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py

FOLDER = Path(__file__).parent
DATA = FOLDER / "solved.csv"
PAGE = FOLDER.parent / "docs" / "solved.md"

HEADS = {
    "games": ["game", "command", "positions", "at the start", "CPU", "memory", "file", "digest", "published"],
    "searched": ["game", "command", "positions visited", "at the start", "CPU", "memory", "published"],
}
"""The heads of the tables. All rows of `search` are in the second one: they tell what the start alone is worth."""

Row = dict[str, str]


def read() -> list[Row]:
    """Return the rows of solved.csv."""
    with open(DATA, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(rows: list[Row]) -> None:
    """Write the rows to solved.csv."""
    with open(DATA, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def compute(command: str) -> Row:
    """Run a command without any database at hand; return what it finds, and what that took."""
    with tempfile.TemporaryDirectory() as home:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [sys.executable, "-m", "retrograde", *shlex.split(command), "--json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "RETROGRADE_HOME": home},
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = json.loads(run.stdout)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = {"cpu": f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"}
        if command.startswith("search"):
            return {"positions": str(told["nodes"]), "start": outcome(told, told), **found}
        return {
            "positions": str(told["positions"]),
            "start": outcome(told["start"], told) if told["start"] else "",
            **found,
            "memory": f"{told['peak_memory_bytes'] / 1e6:.0f}",
            "bytes": str(told["bytes"]),
            "digest": digest(Path(told["path"])),
        }


def digest(path: Path) -> str:
    """Return the first digits of the digest in a database."""
    with h5py.File(path) as file:
        return bytes(file.attrs["digest"]).decode()[:8]


def outcome(start: dict[str, Any], told: dict[str, Any]) -> str:
    """Return what the start is worth, as in `win in 13`, `score +3`, `wins 53.06 % of games` or `solved in 30`."""
    for measure in ("score", "nimber", "drawlevel"):
        if start.get(measure) is not None:
            return f"{measure} {start[measure]:{'+d' if measure == 'score' and start[measure] else ''}}"
    if "expectation" in start:
        return f"expects {start['expectation']:.4f}"
    if "utilities" in start:
        return " : ".join(map(str, start["utilities"]))
    far = f" in {start['remoteness']}" if start.get("remoteness") is not None else ""
    return f"{'solved' if told.get('players') == 1 and start['value'] == 'win' else start['value']}{far}"


def differences(row: Row, found: Row) -> list[str]:
    """Return what should be the same and is not, as far as it is known; a search may come to visit other positions."""
    exact = ("start",) if row["command"].startswith("search") else ("positions", "start", "digest")
    return [f"{key} {found[key]}, not {row[key]}" for key in exact if row[key] and found[key] != row[key]]


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables as Markdown."""
    found: dict[str, list[str]] = {name: [head(names)] for name, names in HEADS.items()}
    for row in sorted(rows, key=lambda row: row["game"].casefold()):
        searched = row["command"].startswith("search")
        cells = [row["game"], f"`{row['command']}`", thousands(row["positions"]), row["start"].replace("-", "−")]
        cells += [duration(row["cpu"]), f"{row['memory']} MB" if row["memory"] else ""]
        cells += [] if searched else [size(row["bytes"]), f"`{row['digest']}`" if row["digest"] else ""]
        found["searched" if searched else "games"].append(f"| {' | '.join([*cells, row['published']])} |")
    return {name: "\n".join(lines) for name, lines in found.items()}


def head(names: Iterable[str]) -> str:
    """Return the head of a table."""
    names = list(names)
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def thousands(number: str) -> str:
    """Return a number with commas."""
    return f"{int(number):,}" if number else ""


def duration(seconds: str) -> str:
    """Return CPU seconds, as hours or minutes where there are many."""
    for unit, long in ("h", 3600), ("min", 60):
        if float(seconds or 0) >= 2 * long:
            return f"{float(seconds) / long:.3g} {unit}"
    return f"{seconds} s" if seconds else ""


def size(number: str) -> str:
    """Return a number of bytes in a unit that suits it."""
    for unit, many in ("GB", 1e9), ("MB", 1e6), ("kB", 1e3):
        if number and int(number) >= many:
            return f"{int(number) / many:.3g} {unit}"
    return f"{number} B" if number else ""


def page(text: str, rows: list[Row]) -> str:
    """Return the page with its tables made anew."""
    for name, table in tables(rows).items():
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        text = re.sub(f"{marks[0]}\n.*?{marks[1]}", lambda _, table=table, marks=marks: "\n\n".join(
            [marks[0], table, marks[1]]), text, flags=re.DOTALL)  # fmt: skip
    return text


def main() -> int:
    """Run the program; return how many rows differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="part of the command of a row")
    parser.add_argument("--below", type=float, metavar="SECONDS", help="all rows that took less CPU time")
    parser.add_argument("--fill", action="store_true", help="write what is found into solved.csv")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/solved.md")
    arguments = parser.parse_args()
    rows = read()
    wanted = [row for row in rows if row["command"].partition(" ")[2] in arguments.rows]
    wanted = wanted or [row for row in rows if any(part in row["command"] for part in arguments.rows)]
    if arguments.below:
        wanted = [row for row in rows if float(row["cpu"] or 0) < arguments.below]
    elif not arguments.rows and not arguments.write:
        print(*(row["command"] for row in rows), sep="\n")
    wrong = 0
    for row in wanted:
        found = compute(row["command"])
        wrongs = [] if arguments.fill else differences(row, found)
        wrong += bool(wrongs)
        said = "; ".join(wrongs) or found["start"] or "the same"
        print(f"{row['command']}: {said}, {found['cpu']} CPU s", flush=True)
        if arguments.fill:
            row.update(found)
            write(rows)
    if arguments.write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
