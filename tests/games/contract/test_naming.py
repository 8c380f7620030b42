"""What people call games, players and what stands on a board."""

import os
import re

import pytest

from retrograde.games import Game, RuleError, VariantError
from retrograde.games.catalog import BUILT_IN, game_class, load_game, trust
from retrograde.games.contract.naming import piece_name, player_to_move, variant_title
from retrograde.solver.conformance.pairs import check_name, check_options
from tests.helpers.command_line import HEAP, retrograde

TITLES = {
    "connect4:5,4": "Connect Four 5 × 4",
    "connect4:5,4,3": "Connect Four 5 × 4, 3 in a row",
    "tictactoe": "Tic-tac-toe",
    "tictactoe:4,true": "Tic-tac-toe 4 × 4, misère",
    "chess:KRKN": "King and rook against king and knight",
    "dodgem:3": "Dodgem 3 × 3",
    "mutorere": "Mū Tōrere",
    "kalah:3": "Kalah, 3 pits",
    "kalah:1,3,either=no": "Kalah, 1 pit, 3 seeds, without either",
    "eightpuzzle:3,2": "8-puzzle 3 × 2",
    "teeko:3,3": "Teeko 3 × 3, 3 men",
    "nim:heaps=3+5,most=2": "Nim, heaps 3+5, most 2",
    "cram": "Cram",
}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("write: str = 'x'", "heap: write is an option, and a method of the contract; call it something else"),
        ("show = 3", "heap: show is 3, and a method of the contract; call it something else"),
        ("players = 'two'", "heap: players is 'two'; it must be an int from 1 on"),
        ("players = 0", "heap: players is 0; it must be an int from 1 on"),
    ],
)
def test_words_of_the_contract_are_kept_for_it(line, complaint, tmp_path):
    path = tmp_path / "heap.py"
    path.write_text(HEAP.replace("    size: int = 10\n", f"    size: int = 10\n    {line}\n"), encoding="utf-8")
    with pytest.raises(RuleError, match=complaint):
        load_game(str(path))


def test_rules_of_ones_own_are_named_by_their_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HEAP, encoding="utf-8")
    trust(load_game(str(path)))
    what = re.escape(f"no game 'mine' is installed; for your rules of that name write {path}:size=12")
    with pytest.raises(VariantError, match=what):
        load_game("mine:size=12")


@pytest.mark.parametrize("text", TITLES)
def test_variants_have_titles(text):
    assert variant_title(load_game(text)) == TITLES[text]


def test_a_game_that_says_nothing_is_titled_after_its_class_and_options():
    class GreatHeap(Game):
        size: int = 10

    assert (variant_title(GreatHeap()), variant_title(GreatHeap(21))) == ("Great Heap", "Great Heap, size 21")


@pytest.mark.parametrize(
    ("text", "position", "mover", "man"),
    [
        ("connect4:4,4", "2", "Yellow", "Red"),
        ("chess:KRK", "8/8/8/8/8/2k5/1R6/K7 b", "Black", "black king"),
        ("hareandhounds", None, "Hounds", "Hounds"),
    ],
)
def test_players_and_men_are_called_as_in_the_game(text, position, mover, man):
    game = load_game(text)
    place = game.start if position is None else game.read(position)
    board = game.draw_board()
    assert player_to_move(game, place) == mover
    assert man in {piece_name(game, board, sign) for sign in game.draw_pieces(place)}
    assert piece_name(game, board, ".") == ""


# Names of files

NO_NAMES = ["a:b", "a@nimber", "a,b", "con", "Aux", "lpt1", "a=b", "-a", 'a"b', "a*", "a<b"]


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_rule_files_that_no_database_can_be_named_after_are_refused_before_the_solve(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / f"{name}.py").write_text(HEAP)
    done = retrograde("solve", f"{tmp_path / name}.py", status=1)
    assert f"name: is {name!r}, which files cannot be named after; rename the rules: letters, " in done.stderr
    assert not list((tmp_path / "home").glob("*"))
    assert f"name: is {name!r}" in retrograde("check", f"{tmp_path / name}.py", status=1).stdout


@pytest.mark.parametrize("name", ["a.b", ".b", "b."])
def test_rule_files_with_dots_in_their_names_do_not_share_a_database(name, tmp_path):
    (tmp_path / f"{name}.py").write_text(HEAP)
    with pytest.raises(VariantError, match=r"a game cannot be named .*; rename the file, with no dot but that of \.py"):
        load_game(f"{tmp_path / name}.py")


@pytest.mark.parametrize("line", ["from .helper import MOST", "from . import helper"])
def test_a_relative_import_in_a_rule_file_is_refused_with_the_remedy(line, tmp_path):
    (tmp_path / "helper.py").write_text("MOST = 3\n")
    (tmp_path / "mine.py").write_text(f"{line}\n{HEAP}")
    with pytest.raises(VariantError, match=r"mine\.py, line 1: .*no relative imports; write `from module import name`"):
        load_game(f"{tmp_path / 'mine.py'}")


def test_an_option_that_is_a_float_is_refused_as_such(tmp_path):
    (tmp_path / "mine.py").write_text(HEAP.replace("size: int = 10", "size: int = 10\n    rate: float = 0.5"))
    told = retrograde("check", f"{tmp_path / 'mine.py'}", status=1).stdout
    assert "mine:rate is a float; options are whole numbers" in told and "joined by +" not in told


@pytest.mark.parametrize("text", ["a/b", "a\\b", "a:b", "../a", "a*", "a?", 'a"', "a<", "a>", "a|", "a@b", "a b"])
def test_options_that_no_database_can_be_named_after_are_refused_before_the_solve(text, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / "heap.py").write_text(HEAP.replace("size: int = 10", 'size: int = 10\n    text: str = "x"'))
    done = retrograde("solve", f"{tmp_path / 'heap.py'}:text={text}", status=1)
    assert "breaks the contract: options: have the text " in done.stderr
    assert (
        "; options must be ints, tuples of ints, yes or no, or text without spaces, commas and the signs" in done.stderr
    )
    assert not list((tmp_path / "home").glob("*"))


@pytest.mark.parametrize("length", [230, 300])
def test_names_that_are_too_long_are_refused_before_the_solve(length, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / "heap.py").write_text(HEAP.replace("size: int = 10", 'size: int = 10\n    text: str = "x"'))
    variant = f"{tmp_path / 'heap.py'}:text={'a' * length}"
    done = retrograde("solve", variant, status=1)
    told = (
        f"the name has {length + len('heap,text=.h5')} bytes, and at most 220 fit; name a shorter one with --database"
    )
    assert told in done.stderr
    assert not list((tmp_path / "home").glob("*"))
    retrograde("solve", variant, "--database", tmp_path / "short.h5")  # as it says


def test_names_and_options_of_our_games_are_not_refused():
    for name in BUILT_IN:
        example = game_class(name).example
        game = load_game(f"{name}:{example}" if example else name)
        check_name(game)
        check_options(game)
