"""What a person sees at a terminal: on a dark and a light ground, on a small screen, and without seeing colours."""

import os
import re
import shutil
from pathlib import Path
from zlib import crc32

import click
import pytest

from retrograde.cli.render import board, words
from retrograde.cli.render.moves import moves_table, number_of, with_numbers
from retrograde.cli.render.pager import rows_of
from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.catalog import load_game
from retrograde.games.contract.choice import Choice
from retrograde.solver.play.answer import answer_of
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.journal import MAGIC, PREFIX
from tests.helpers.command_line import on_terminal, retrograde

needs_terminals = pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
FORKED = "8/1n6/5R2/4K1k1/8/8/8/8 w"
"""King and rook can both go to e6; the rook wins there, the king draws."""


# Contrast


def light_of(colour):
    """Return the relative luminance of one of the 256 colours of terminals, from 16 on, as WCAG 2 defines it."""
    levels = [0, 95, 135, 175, 215, 255]
    grey = 8 + 10 * (colour - 232)
    cube = colour - 16
    red_green_blue = (grey,) * 3 if colour >= 232 else (levels[cube // 36], levels[cube // 6 % 6], levels[cube % 6])
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (y / 255 for y in red_green_blue)]
    return sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(light_of, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast(16, 231) == pytest.approx(21)
    assert contrast(231, 243) == pytest.approx(4.54, abs=0.01)  # #767676 on white


@pytest.mark.parametrize("pair", [*words.COLOURS.values(), *board.TERMINAL_COLOURS.values()])
def test_what_has_a_colour_has_a_ground_on_which_it_is_read(pair):
    assert min(pair) >= 16, "the first 16 colours are different ones in each theme"
    assert contrast(*pair) >= 4.5


def test_what_is_faint_is_read_on_black_and_on_white():
    assert min(contrast(words.FAINT, ground) for ground in (16, 231)) >= 4.5
    assert click.unstyle(words.faint("x")) == "x" != words.faint("x")


def test_values_are_told_without_colour():
    assert len(set(words.SIGNS.values())) == 3
    assert words.SIGNS[WIN] != words.SIGNS[LOSE] != words.SIGNS[TIE] == words.SIGNS[DRAW]
    for variant in ("tictactoe", "connect4", "chess:KRK", "dodgem", "lgame", "mutorere"):
        for look in load_game(variant).draw_board().pieces.values():
            assert "\x1b[48;5;" in board.colour_piece("X", look) or "arrow" in look


def test_bars_of_a_chart_are_told_apart_without_colour(solved):
    pytest.importorskip("matplotlib")
    from retrograde.cli.commands.plot import draw
    from retrograde.databases import DatabaseFile

    with DatabaseFile(solved("connect4:4,4")) as file:
        bars = draw(file, linear=False).axes[0].containers
        assert {bar.get_label(): {patch.get_hatch() or "" for patch in bar} for bar in bars} == {
            "win": {""}, "tie": {"...."}, "lose": {"////"},
        }  # fmt: skip


# Boards with what moves are worth


@pytest.fixture(scope="module")
def krkn(solved):
    with open_solution(solved("chess:KRKN")) as solution:
        yield solution


def test_a_place_that_several_men_reach_hides_no_value(krkn):
    position = krkn.game.read(FORKED)
    choices = krkn.moves(position)
    worth = board.values_of_places(krkn.game, position, choices)
    names = krkn.game.draw_board().names
    by_name = {names[place]: value for place, value in worth.items()}
    assert by_name["e6"] is None
    assert (by_name["f8"], by_name["d4"]) == (WIN, DRAW)
    text = click.unstyle(board.board_text(krkn.game, position, (), worth))
    assert "6 │ + │ + │ + │ = │ ± │ R │ = │ = │" in text
    assert "± some moves there are worth more than others" in click.unstyle(board.legend(krkn.game, position, worth))


def test_every_sign_on_a_board_is_true_of_all_moves_to_its_place(krkn):
    from random import Random

    from retrograde.solver.play.match import random_position

    differing = 0
    for seed in range(60):
        position = random_position(krkn, Random(seed))
        choices = krkn.moves(position)
        worth = board.values_of_places(krkn.game, position, choices)
        for place, value in worth.items():
            found = {choice.value for choice in choices if krkn.game.draw_move(position, choice.move)[-1] == place}
            assert (value is None) == (len(found) > 1)
            differing += value is None
    assert differing > 3


def test_moves_of_many_places_have_no_signs():
    game = load_game("lgame")
    moves = [Choice(move, "", game.do_move(game.start, move), DRAW, None) for move in game.generate_moves(game.start)]
    assert moves and board.values_of_places(game, game.start, moves) == {}


def test_a_board_is_lower_where_the_screen_is():
    game = load_game("chess:KRK")
    position = game.read("8/8/8/8/8/2k5/1R6/K7 w")
    high, low = (click.unstyle(board.board_text(game, position, rows=rows)).splitlines() for rows in (18, 17))
    assert (len(high), len(low)) == (18, 9)
    assert low[5:] == ["3  ·  ·  k  ·  ·  ·  ·  ·", "2  ·  R  ·  ·  ·  ·  ·  ·", "1  K  ·  ·  ·  ·  ·  ·  ·",
                       "   a  b  c  d  e  f  g  h"]  # fmt: skip


# Moves


def test_moves_are_numbered_as_in_the_game():
    chess, board = load_game("chess:KRK"), load_game("tictactoe")
    white, black = (chess.read(f"8/8/8/8/8/2k5/1R6/K7 {side}") for side in "wb")
    assert with_numbers(chess, white, ["Rb8", "Kc4", "Kb2"]) == "1. Rb8 Kc4 2. Kb2"
    assert with_numbers(chess, black, ["Kd4", "Kb1", "Kc3"]) == "1... Kd4 2. Kb1 Kc3"
    assert with_numbers(chess, white, ["Kc4", "Kb2"], 1) == "1... Kc4 2. Kb2"
    assert with_numbers(board, board.start, ["a1", "b2", "c3"]) == "1. a1 2. b2 3. c3"
    assert with_numbers(load_game("connect4"), 0, ["1", "10"]) == "1 10"
    assert [number_of(chess, black, ply) for ply in range(3)] == ["1...", "2.", "2..."]


def test_chess_speaks_of_mates(krkn):
    game = krkn.game
    text = click.unstyle(moves_table(answer_of(krkn, game.read(FORKED))))
    assert "  Rf1  win  mate in 24\n" in text and "  Re6  win  mate in 27\n" in text and "  Ke6  draw\n" in text
    shown = retrograde("play", krkn.database.file.path, "--from", FORKED, input="?\nKe6\n").stdout
    assert "you win: mate in 24 (47 plies) if you play right\n" in shown
    assert "White, your move: Ke6\n" in shown and re.search(r"\n1\.\.\. \S+  Black, perfect\n", shown)
    assert "  1.  Ke6  threw the win away: draw; better Rf1, Rf2, Rf8\n" in shown
    text = retrograde("info", krkn.database.file.path).stdout
    assert "The longest win: White to move wins: mate in " in text
    assert re.search(r"KRKN +white .* mate in 40 ", text)


def test_long_tables_are_shortened_on_request(krkn):
    answer = answer_of(krkn, krkn.game.read(FORKED))
    text = click.unstyle(moves_table(answer, 3))
    assert text.splitlines()[-1] == f"  … and {len(answer.moves) - 3} more; ? shows all"
    assert len(text.splitlines()) == 5
    assert moves_table(answer, len(answer.moves) - 1) == moves_table(answer)  # no room is saved


# Paging

PAGER = "sh -c 'echo PAGED; cat'"


@pytest.mark.thorough
@needs_terminals
def test_what_the_screen_does_not_hold_is_paged(solved):
    path = solved("tictactoe")
    for command in (["games"], ["games", "chess"], ["info", path], ["query", path]):
        high = on_terminal(*command, lines=1000, PAGER=PAGER)
        low = on_terminal(*command, lines=8, PAGER=PAGER)
        assert "PAGED" not in high and low.startswith("PAGED\n")
        whole = click.unstyle(high).split()
        assert low.removeprefix("PAGED\n").split() == whole or command[0] == "query"  # whose board is lower
    assert "\x1b[" in on_terminal("games", lines=1000)
    assert "\x1b[" not in on_terminal("games", lines=1000, NO_COLOR="1")


@pytest.mark.thorough
@needs_terminals
def test_a_query_shows_on_the_board_what_moves_are_worth(krkn):
    shown = click.unstyle(on_terminal("query", krkn.database.file.path, FORKED, lines=60))
    assert "  6 │ + │ + │ + │ = │ ± │ R │ = │ = │\n" in shown
    assert "± some moves there are worth more than others\n\nWhite to move wins: mate in 24 (47 plies)\n" in shown
    assert "│" not in retrograde("query", krkn.database.file.path, FORKED).stdout


@needs_terminals
def test_nothing_is_wider_than_the_screen(solved, monkeypatch, tmp_path):
    home = Path(shutil.copy(solved("dodgem"), tmp_path)).parent
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    header = b'["connect4:width=5,height=5 rules sources", []]'
    journal = home / "connect4,width=5,height=5.h5.journal"
    journal.write_bytes(PREFIX.pack(MAGIC, len(header), crc32(header)) + header)
    for command in (["games", "chess"], ["list"], ["query", "dodgem"]):
        shown = click.unstyle(on_terminal(*command, lines=200))
        assert max(map(len, shown.splitlines())) <= 80, command
        assert "connect4:width=5,height=5 " in shown or command != ["list"]


@needs_terminals
def test_what_is_piped_or_wrong_is_not_paged(solved):
    assert "PAGED" not in retrograde("games", env={"PAGER": PAGER, "LINES": "8"}).stdout
    assert on_terminal("games", "go", lines=8, PAGER=PAGER).startswith("retrograde: error: no game 'go'")


@pytest.mark.thorough
@needs_terminals
def test_hints_leave_the_board_on_the_screen(krkn):
    path = krkn.database.file.path
    shown = click.unstyle(on_terminal("play", path, "--from", FORKED, "--hints", text="quit\n", PAGER=PAGER))
    assert re.search(r"  … and \d+ more; \? shows all\n\nWhite, your move: ", shown)
    assert rows_of(shown[shown.index("  8 ") : shown.index("White, your move")]) < 24
    shown = click.unstyle(on_terminal("play", path, "--from", FORKED, lines=12, text="?\nquit\n", PAGER=PAGER))
    assert "PAGED" in shown and "  Rf4  draw\n" in shown


def test_rows_count_lines_that_are_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    assert rows_of("a\n\n" + "b" * 10 + "\n" + click.style("c" * 11, bold=True)) == 5
