"""Answers of the page that are written beforehand, so that a browser needs neither a server nor Python.

    games/GAME/facts.json        what the page asks once: about the database, the parts of the board, the start
    games/GAME/0.json.gz, …      the positions, sorted by their text, as /api/position shows them

Each position also has the reply of a perfect player. `firsts` in facts.json are the first texts of each file.
"""

import gzip
import pickle
from base64 import b64encode
from pathlib import Path
from typing import Any

from retrograde.cli.common import CHESS
from retrograde.cli.web import view
from retrograde.cli.web.answers import answer_text
from retrograde.games.contract.game import UNDECIDED, PositionError
from retrograde.solver.play.answer import is_chances
from retrograde.solver.play.player import perfect
from retrograde.solver.play.solution import Solution

MOST = 20_000
"""The most positions of a game whose answers are all written beforehand."""
FIRST = 256
"""Positions of larger games whose answers are written beforehand: the first plies."""
TOGETHER = 256
"""Positions in a file."""


def write_answers(solution: Solution, folder: Path, python: bool) -> bool:
    """Write the answers about a game, and return whether these are all positions.

    If there are more than MOST, only the FIRST ones are written. With *python* the browser answers for the others.
    """
    positions = first_positions(solution, MOST + 1)
    complete = solution.start is not None and len(positions) <= MOST
    texts = {solution.game.write(position): position for position in (positions if complete else positions[:FIRST])}
    start = next(iter(texts))
    order = sorted(texts, key=lambda text: text.encode("utf-16-be"))  # as JavaScript compares texts
    firsts = order[::TOGETHER]
    for number in range(len(firsts)):
        file = order[number * TOGETHER : (number + 1) * TOGETHER]
        answers = [answer(solution, texts[text], not complete, python and not complete) for text in file]
        write_packed(folder / f"{number}.json.gz", answer_text(answers).encode())
    facts = {
        "about": vars(view.database(solution)),
        "board": board_parts(solution),
        "start": start,
        "usual": solution.start is not None,
        "whole": complete,
        "firsts": firsts,
        "database": solution.database.file.path.name,
        "python": python and not complete,
    }
    if facts["python"]:
        facts["rules"] = b64encode(pickle.dumps(solution.game)).decode()
    (folder / "facts.json").write_text(answer_text(facts), encoding="utf-8")
    return complete


def first_positions(solution: Solution, most: int) -> list[int]:
    """Return the positions that play reaches first, at most *most*, in the order of plies."""
    game, start = solution.game, solution.start_or_example
    order = {start: None}  # a dict keeps the order, and finds each position once
    wave = [start]
    while wave and len(order) < most:
        before = len(order)
        for position in wave:
            if game.primitive(position) == UNDECIDED:
                order |= {game.do_move(position, move): None for move in game.generate_moves(position)}
            if len(order) >= most:
                break
        wave = [*order][before:]
    return [*order][:most]


def answer(solution: Solution, position: int, line: bool, python: bool) -> dict[str, Any]:
    """Return the page's answer about a position, with a perfect player's reply; with *line*, best play too.

    *python*: the browser answers other questions.
    """
    shown = {**vars(view.show_position(solution, position, line))}
    shown["pgn"] = shown["pgn"] and (python or solution.game.name == CHESS)  # backend.js writes PGN of chess
    if shown["over"] or is_chances(solution.game, position):
        return shown
    return {**shown, "reply": solution.game.move_name(position, perfect(solution, position))}


def board_parts(solution: Solution) -> object:
    """Return what positions are set up with; None if they are set up by their text only."""
    try:
        return view.parts(solution)
    except PositionError:
        return None


def write_packed(path: Path, content: bytes) -> None:
    """Write bytes packed by gzip, always in the same way."""
    path.write_bytes(gzip.compress(content, 9, mtime=0))
