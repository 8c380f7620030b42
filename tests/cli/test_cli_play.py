"""`retrograde play`, with people whose moves are written down beforehand."""

import json
import re

import pytest

from tests.helpers.command_line import HEAP, retrograde


@pytest.fixture
def play(solved, tmp_path, monkeypatch):
    """A function that plays a variant and returns what is shown."""
    monkeypatch.chdir(tmp_path)

    def play(variant, *options, moves="", status=0):
        return retrograde("play", solved(variant), *options, input=moves, status=status).stdout

    return play


def last_line(text):
    """Return the last line before the scorecard: the result."""
    return text.partition("\nYour moves:")[0].rstrip().rpartition("\n")[2]


def test_a_person_plays_against_perfection(play):
    text = play("tictactoe", moves="b2\na3\n")
    assert "X, your move: b2\n\n  . . .\n  . X .\n  . . .\n\n2. a1  O, perfect\n\n  O . .\n" in text
    assert last_line(text) == "the game stops here"


def test_people_are_told_what_they_play_and_who_they_are(play):
    assert play("connect4:4,4", moves="").startswith("Connect Four 4 × 4, you are Red (X)\nenter a move by its name; ")
    assert play("connect4:4,4", "--first", "random", "--second", "human").startswith(
        "Connect Four 4 × 4, you are Yellow"
    )
    assert play("tictactoe", "--second", "human").startswith("Tic-tac-toe\n")
    assert play("tentozero", moves="").startswith("1, 2, …, 10, you are the first player\n")
    assert "\nfirst player, your move: +1\n" in play("tentozero", moves="+1\n")


def test_the_better_side_wins(play):
    text = play("tictactoe", "--from", "XX./OO./...", moves="c1\n")
    assert last_line(text) == "X wins after 1 move"
    text = play("tictactoe", "--from", "XX./OO./...", moves="a3\n")
    assert last_line(text) == "O wins after 2 moves"


def test_a_game_that_is_over_is_not_played_on(play):
    text = play("tictactoe", "--from", "XXX/OO./...")
    assert last_line(text) == "O has lost: the game is over"
    assert "player" not in text and "your move" not in text


@pytest.mark.parametrize("moves", ["", "quit\n", "q", "\n\n"])
def test_the_game_stops_politely(play, moves):
    text = play("tictactoe", moves=moves)
    assert last_line(text) == "the game stops here"


def test_a_bad_move_is_asked_for_again(play):
    text = play("tictactoe", moves="z9\nb2\nb2\n")
    assert "your move: z9\nno move 'z9' here; the moves are a1 b1 c1 a2 b2 c2 a3 b3 c3\nX, your move: b2\n" in text
    assert "no move 'b2' here; the moves are b1 c1 a2 c2 a3 b3 c3\n" in text


def test_a_word_near_a_command_is_told_of_it(play):
    assert "did you mean hints?" in play("tictactoe", moves="hint\n")


def test_a_question_mark_shows_what_each_move_is_worth(play):
    text = play("tictactoe", "--from", "XX./OO./...", moves="?\nc1\n")
    assert "The moves, best first, and what each brings the player who makes it:\n  c1 win  in 1\n" in text
    assert last_line(text) == "X wins after 1 move"


def test_two_people_play(play):
    text = play("tictactoe", "--second", "human", moves="a1\na2\nb1\nb2\nc1\n")
    assert "O, your move: b2\n" in text
    assert last_line(text) == "X wins after 5 moves"


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
        assert last_line(text).startswith(("a tie", "O wins"))


def test_a_game_of_the_users_is_played_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    (tmp_path / "heap.py").write_text(HEAP)
    retrograde("solve", "./heap.py:size=6")
    text = retrograde("play", "./heap.py:size=6", input="2\n3\n").stdout
    assert last_line(text) == "the first player wins after 3 moves"
    assert last_line(retrograde("play", "home/heap,size=6.h5", "--second", "human").stdout) == "the game stops here"


def test_after_the_game_a_scorecard_tells_what_each_move_was_worth(play):
    text = play("tictactoe", "--from", "X.O/.../...", "--second", "human", moves="b1\na3\nb2\nb3\n")
    assert text.endswith(
        "the game stops here\n\n"
        "Your moves: 2 of 4 moves perfect, 2 threw something away\n"
        "  1.  b1  threw the win away: lose in 6; better a2, a3, c3\n"
        "  2.  a3  threw the win away: lose in 4; better c2, c3\n"
        "  3.  b2  kept the win, in 3\n"
        "  4.  b3  the best of a lost game, in 2\n"
    )
    text = play("connect4:4,4", "--from", "11223", moves="4\n")
    assert "  1.  4  " in text


def test_a_move_can_be_taken_back(play):
    text = play("tictactoe", moves="b2\nundo\na1\nundo\nundo\n")
    assert text.count("\nX, your move: ") == 6
    assert "your move: undo\n\n  . . .\n  . . .\n  . . .\n\nX, your move: a1\n" in text
    assert "your move: undo\nthere is nothing to take back\n" in text
    assert "Your moves" not in text


def test_sides_are_swapped(play):
    text = play("tictactoe", moves="swap\nb2\n")
    assert "O is you\n" in text
    assert re.search(r"1\. [abc][123]  X, perfect\n", text)
    assert "O, your move: b2\n" in text


def test_who_resigns_has_lost(play):
    text = play("tictactoe", moves="b2\nresign\n")
    assert last_line(text) == "O wins: X resigns"
    assert "Your moves: 1 of 1 move perfect, 0 threw something away\n  1.  b2  kept the tie, in 9\n" in text


def test_hints_and_what_to_expect(play):
    text = play("tictactoe", "--hints", "--from", "XX./OO./...", moves="hints\nhints\nline\nhelp\nc1\n")
    assert text.count("you win in 1 ply if you play right\nThe moves, best first") == 2
    assert "your move: hints\nno more hints\n" in text
    assert "your move: line\nBest play  1. c1\n" in text
    assert "take your last move back" in text
    assert "you lose in 2 plies unless the other side goes wrong" in play(
        "tictactoe", "--hints", "--from", "X.X/.O./X.O", moves=""
    )
    assert "a tie in 9 plies if both play right" in play("tictactoe", moves="?\n")
    assert "a draw if both play right" in play("mutorere", moves="?\n")


def test_players_are_limited_in_skill_and_repeat_themselves_by_seed(play):
    games = [
        play("tictactoe", "--first", "perfect", "--second", "random", "--skill", "0.3", "--seed", str(seed))
        for seed in (1, 1, 2)
    ]
    assert games[0] == games[1] != games[2]
    assert "0.7\n" in play("tictactoe", "--first", "0.7", "--second", "greedy", "--seed", "1")


def test_no_such_player(play):
    assert play("tictactoe", "--first", "me", status=2) == ""
    play("mutorere", "--second", "rules", status=2)
    play("tictactoe", "--skill", "2", status=2)


def test_a_puzzle_that_is_not_solved_brings_no_points(solved):
    told = retrograde("match", solved("eightpuzzle:3,2"), "random", "perfect", "--games", 4, "--json").stdout
    unlucky, perfect = json.loads(told)["players"]
    assert (unlucky["won"], unlucky["points"]) == (0, 0) and perfect["won"] == perfect["points"] == 2


def test_match_writes_no_games_where_it_plays_none(tmp_path):
    told = retrograde("match", "chess:KRK", "random", "random", "--exact", "--pgn", tmp_path / "x.pgn", status=2).output
    assert "--pgn goes with games, and not with --exact" in told and not list(tmp_path.iterdir())
