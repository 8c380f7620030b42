"""What notebooks show: games, databases, listings, outcomes and moves as HTML; the example notebook is run."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from retrograde.databases import Outcome
from retrograde.games import DRAW, LOSE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.marks import COLOURS, value_html
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import LATE, environment
from tests.helpers.paths import ROOT


def tree(shown):
    """Return what an object shows of itself, as a tree of elements."""
    return ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


def texts(element):
    return [text.strip() for text in element.itertext() if text.strip()]


def pictures(element):
    return [one for one in element.iter() if one.tag.endswith("svg")]


def test_a_value_has_its_colour_and_its_plies():
    assert COLOURS[LOSE] in value_html(LOSE)
    assert texts(tree(Outcome(WIN, 1))) == ["win", "in 1 ply"]
    assert texts(tree(Outcome(LOSE, 1200))) == ["lose", "in 1,200 plies"]
    assert texts(tree(Outcome(DRAW, None))) == ["draw"]
    assert "undecided" in value_html(UNDECIDED)


def test_a_move_shows_what_it_brings_its_player():
    assert texts(tree(Choice(3, "b<2", 7, LOSE, 4))) == ["b<2", "win", "in 5 plies"]
    assert texts(tree(Choice(3, "a", 7, LOSE, 4, again=True))) == ["a", "lose", "in 5 plies"]
    assert texts(tree(Choice(3, "a", 7, DRAW, None, worth="+2"))) == ["a", "draw", "+2"]
    assert texts(tree(Choice(3, "a", 7, LOSE, 4, far="zeroing in 5"))) == ["a", "win", "zeroing in 5"]


def test_a_game_shows_its_title_and_its_start():
    shown = tree(load_game("connect4:5,4"))
    assert texts(shown)[0] == "Connect Four 5 × 4"
    assert [one.get("data-place") for one in shown.iter() if one.get("data-place")] == [str(n) for n in range(20)]
    without_start = tree(load_game("chess:KRK"))
    assert not pictures(without_start)
    assert len(texts(without_start)) == 1


@pytest.mark.long
def test_a_database_shows_its_start_and_counts(solved):
    with open_solution(solved("tictactoe")) as solution:
        shown = tree(solution.database)
        _, chart = pictures(shown)
        assert texts(shown)[0] == "Tic-tac-toe"
        assert {"tie", "in 9 plies", "5,478 positions by plies to the end, on a logarithmic scale:"} <= {*texts(shown)}
        bars = [
            one.find("{*}title") if "}" in one.tag else one.find("title") for one in chart if one.tag.endswith("rect")
        ]
        counted = {title.text for title in bars}
        assert len(counted) == len(solution.database.file.legend)
        assert all(
            f"{row.value.name.lower()} in {row.plies} plies: {row.positions:,}" in counted
            for row in solution.database.file.legend
        )
        assert "∞" not in texts(chart)
    with open_solution(solved("chess:KRK")) as solution:
        shown = tree(solution.database)
        assert "An example; the game has no start." in texts(shown)
        assert "∞" in texts(pictures(shown)[1])


@pytest.mark.long
def test_a_listing_shows_its_first_positions(solved):
    with open_solution(solved("tictactoe")) as solution:
        some = solution.where("win", range(1, 4))
        shown = tree(some)
        lines = [texts(row) for row in shown.iter("tr")]
        assert lines[0] == ["tier", "position", "value", "remoteness"]
        assert len(lines) == 11
        for tier, position, value, plies in lines[1:]:
            number = solution.game.read(position)
            assert (solution.game.tier(number), *solution.value(number)) == (int(tier), WIN, int(plies))
            assert value == "win"
        assert texts(shown)[-1] == f"{len(some):,} positions"
        assert texts(tree(solution.where("draw")))[-1] == "0 positions"


@pytest.mark.thorough
def test_the_example_notebook_shows_what_it_says(tmp_path):
    """Its outputs are stored, so that it can be read without running it."""
    pytest.importorskip("IPython")
    notebook, run = ROOT / "docs" / "notebook.ipynb", tmp_path / "run.ipynb"
    command = [sys.executable, "-m", "tests.helpers.notebook", notebook, run]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LATE, env=environment(tmp_path), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    assert sum(len(cell.get("outputs", ())) for cell in stored["cells"]) >= 8
    assert json.loads(run.read_text(encoding="utf-8")) == stored
