"""`retrograde play`, with people whose moves are written down beforehand."""

import re

import pytest

from .command_line import HEAP, retrograde


@pytest.fixture
def play(solved, tmp_path, monkeypatch):
    """A function that plays a variant and returns what is shown."""
    monkeypatch.chdir(tmp_path)

    def play(variant, *options, moves="", status=0):
        return retrograde("play", solved(variant), *options, input=moves, status=status).stdout

    return play


def last_line(text):
    return text.rstrip().rpartition("\n")[2]


def test_a_person_plays_against_perfection(play):
    text = play("tictactoe", moves="b2\na3\n")
    assert "first player, your move: b2\n\n  . . .\n  . X .\n  . . .\n\n2. a1  second, perfect\n\n  O . .\n" in text
    assert last_line(text) == "the game stops here"


def test_the_better_side_wins(play):
    text = play("tictactoe", "--from", "XX./OO./...", moves="c1\n")
    assert last_line(text) == "the first player wins after 1 move"
    text = play("tictactoe", "--from", "XX./OO./...", moves="a3\n")
    assert last_line(text) == "the second player wins after 2 moves"


def test_a_game_that_is_over_is_not_played_on(play):
    text = play("tictactoe", "--from", "XXX/OO./...")
    assert last_line(text) == "the second player wins after 0 moves"


@pytest.mark.parametrize("moves", ["", "quit\n", "q", "\n\n"])
def test_the_game_stops_politely(play, moves):
    text = play("tictactoe", moves=moves)
    assert last_line(text) == "the game stops here"


def test_a_bad_move_is_asked_for_again(play):
    text = play("tictactoe", moves="z9\nb2\nb2\n")
    assert (
        "your move: z9\nno move 'z9' here; the moves are a1 b1 c1 a2 b2 c2 a3 b3 c3\nfirst player, your move: b2\n"
        in text
    )
    assert "no move 'b2' here; the moves are b1 c1 a2 c2 a3 b3 c3\n" in text


def test_a_question_mark_shows_what_each_move_is_worth(play):
    text = play("tictactoe", "--from", "XX./OO./...", moves="?\nc1\n")
    assert "The moves, best first, and what each brings the player who makes it:\n  c1 win  in 1\n" in text
    assert last_line(text) == "the first player wins after 1 move"


def test_two_people_play(play):
    text = play("tictactoe", "--second", "human", moves="a1\na2\nb1\nb2\nc1\n")
    assert "second player, your move: b2\n" in text
    assert last_line(text) == "the first player wins after 5 moves"


def test_perfection_against_itself_ends_as_the_start_says(play):
    text = play("tictactoe", "--first", "perfect", "--second", "perfect")
    assert last_line(text) == "a tie after 9 moves"
    assert "your move" not in text


def test_endless_play_is_a_draw(play):
    text = play("mutorere", "--first", "perfect", "--second", "perfect")
    assert last_line(text).startswith("a draw after ")
    assert last_line(text).endswith("this position has come up 3 times")
    boards = re.split(r"\n\n(?:\d+\. .*|a draw.*)\n+", text)[:-1]
    assert boards.count(boards[-1]) == 3


def test_chance_plays_the_same_for_the_same_seed(play):
    games = [play("tictactoe", "--first", "random", "--second", "random", "--seed", str(seed)) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]


def test_perfection_never_loses_a_game_that_is_a_tie(play):
    for seed in range(10):
        text = play("tictactoe", "--first", "random", "--second", "perfect", "--seed", str(seed))
        assert last_line(text).startswith(("a tie", "the second player wins"))


def test_a_game_of_the_users_is_played_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / "heap.py").write_text(HEAP)
    retrograde("solve", "./heap.py:size=6")
    text = retrograde("play", "./heap.py:size=6", input="2\n3\n").stdout
    assert last_line(text) == "the first player wins after 3 moves"
    assert last_line(retrograde("play", "home/heap,size=6.h5", "--second", "human").stdout) == "the game stops here"
