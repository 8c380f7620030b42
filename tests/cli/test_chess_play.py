"""Chess on the command line: queries, games, and games written down."""

import io
import json

import pytest

from retrograde.cli.common import check_can_write
from retrograde.games import LOSE, WIN
from retrograde.games.chess import Chess
from tests.helpers.command_line import retrograde

pytestmark = pytest.mark.long

chess = pytest.importorskip("chess")
pgn = pytest.importorskip("chess.pgn")

ROOK = "8/8/8/3k4/8/8/8/K6R w - - 0 1"


@pytest.fixture(scope="module")
def krk(solved):
    return solved("chess:KRK")


def ask(path, fen):
    return json.loads(retrograde("query", path, fen, "--json").stdout)


def test_query(krk):
    facts = ask(krk, ROOK)
    assert (facts["value"], facts["remoteness"], facts["distance"]) == ("win", 29, "mate in 15")
    assert facts["line"][0] == facts["moves"][0]["move"] == "Ka2" and facts["line"][-1].endswith("#")
    assert len(facts["line"]) == 29 and len(facts["moves"]) == 16
    assert facts["moves"][0]["remoteness"] == 28
    text = retrograde("query", krk, ROOK).stdout
    assert "White to move wins: mate in 15 (29 plies)" in text and "Rd1+" in text


@pytest.mark.thorough
def test_query_is_the_same_however_it_is_asked(krk):
    """All eight symmetries, both pairs of colours, underscores for spaces."""
    board, answers = chess.Board(ROOK), set()
    turns = [lambda b: b, chess.flip_horizontal, chess.flip_vertical, chess.flip_diagonal]
    turns += [chess.flip_anti_diagonal, lambda b: chess.flip_vertical(chess.flip_horizontal(b))]
    turns += [lambda b: chess.flip_horizontal(chess.flip_diagonal(b))]
    turns += [lambda b: chess.flip_vertical(chess.flip_diagonal(b))]
    fens = [board.transform(turn).fen() for turn in turns]
    assert len(set(fens)) == 8
    for fen in fens:
        texts = [fen, chess.Board(fen).mirror().fen(), fen.replace(" ", "_"), " ".join(fen.split()[:2])]
        for text in texts if fen == fens[0] else texts[:2]:
            facts = ask(krk, text)
            answers.add((facts["value"], facts["remoteness"], len(facts["moves"]), len(facts["line"])))
    assert answers == {("win", 29, 16, 29)}


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("7k/7R/8/8/8/8/8/K7 w", ["Black is in check; should Black be to move?"]),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", ["castling rights 'K' are unknown in endings"]),
        ("7k/6Q1/6K1/8/8/8/8/8 b", ["this is KQK", "retrograde solve chess:KQK"]),
        ("7k/8/8/8/8/8/PPPP4/K7 b", ["6 men are on the board", "5 at most"]),
        ("k7/8/8/8/8/8/8/KP6 b", ["a pawn stands on b1"]),
        ("k6k/8/8/8/8/8/8/K6R b", ["Black has 2 kings"]),
        ("hello", ["no FEN 'hello'"]),
    ],
)
def test_query_refuses_in_one_line(krk, fen, words):
    result = retrograde("query", krk, fen, status=1)
    assert all(word in result.stderr for word in words) and result.stderr.count("\n") == 1


def test_query_without_a_position(krk):
    assert "chess:KRK has no start; give a POSITION, as in" in retrograde("query", krk, status=2).stderr


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("7k/8/8/8/8/8/8/K7 w", "a draw: a dead position, no mate is possible"),
        ("R6k/8/7K/8/8/8/8/8 b", "Black has lost: checkmate"),
        ("k7/1R6/2K5/8/8/8/8/8 b", "a draw: stalemate"),
        ("6k1/R7/6K1/8/8/8/8/8 b", "Black to move loses: mated in 7 (14 plies)"),
    ],
)
def test_query_in_words(krk, fen, words):
    assert words in retrograde("query", krk, fen).stdout


# Play


def played(path, tmp_path, *args, **options):
    """Play a game and return what was said, and the game as python-chess reads it."""
    file = tmp_path / "game.pgn"
    result = retrograde("play", path, "--pgn", file, *args, **options)
    game = pgn.read_game(io.StringIO(file.read_text()))
    assert not game.errors
    return result.stdout, game


def test_longest_game(krk, tmp_path):
    said, game = played(krk, tmp_path, "--from", "longest", "--first", "perfect", "--second", "perfect")
    board = game.end().board()
    assert board.is_checkmate() and board.ply() - game.board().ply() == 31
    assert said.endswith("White wins after 16 moves: checkmate\n")
    assert (game.headers["Result"], game.headers["White"], game.headers["SetUp"]) == ("1-0", "perfect", "1")


@pytest.mark.thorough
def test_random_game_by_seed(krk, tmp_path):
    """The random player may give the rook away: a dead position."""
    endings = set()
    for seed in range(8):
        args = ["--first", "random", "--second", "perfect", "--seed", str(seed)]
        said, game = played(krk, tmp_path, *args)
        if seed == 0:
            again = played(krk, tmp_path, *args)
            assert (said, str(game)) == (again[0], str(again[1]))
        last = said.splitlines()[-1]
        endings.add(last.partition(": ")[2])
        assert game.headers["Result"] == ("1/2-1/2" if "draw" in last else game.headers["Result"])
        if "checkmate" in last:
            assert game.end().board().is_checkmate()
    assert "a dead position, no mate is possible" in endings


def test_a_person_plays(krk, tmp_path):
    """Moves in SAN and as UCI has them; then the end of input."""
    said, game = played(krk, tmp_path, "--from", "8/8/8/8/8/2k5/1R6/K7_w", input="b2b8\nRxh1\nKb1\n")
    assert "no move 'Rxh1'" in said and "the game stops here\n" in said
    assert game.headers["Result"] == "*" and next(move.uci() for move in game.mainline_moves()) == "b2b8"
    assert len(list(game.mainline_moves())) == 4


def test_a_player_who_resigns_has_lost_in_the_file_too(krk, tmp_path):
    for turn, first, result in (("w", ["--first", "human"], "0-1"), ("b", ["--first", "human"], "1-0")):
        said, game = played(krk, tmp_path, "--from", f"8/8/8/8/8/2k5/1R6/K7 {turn}", *first, input="resign\n")
        assert game.headers["Result"] == result
        assert f"{ {'0-1': 'Black wins: White', '1-0': 'White wins: Black'}[result] } resigns" in said
    said, game = played(krk, tmp_path, "--from", "8/8/8/8/8/2k5/1R6/K7 w", input="Rb8\nresign\n")
    assert (game.headers["Result"], len(list(game.mainline_moves())), game.end().comment) == ("0-1", 2, "White resigns")


@pytest.mark.parametrize("people", [["--first", "human"], ["--first", "perfect", "--second", "perfect"]])
def test_a_game_that_ctrl_c_ends_has_no_result(krk, tmp_path, monkeypatch, people):
    shown = []

    def show(match):
        shown.append(match.position)
        if len(shown) == 3:  # the start, and each of two moves
            raise KeyboardInterrupt

    monkeypatch.setattr("retrograde.cli.commands.play.Match.show", show)
    _, game = played(krk, tmp_path, "--from", "8/8/8/8/8/2k5/1R6/K7 w", *people, input="Rb8\n", status=130)
    assert (game.headers["Result"], len(list(game.mainline_moves()))) == ("*", 2)


def test_a_match_that_ctrl_c_ends_keeps_the_games_played_so_far(krk, tmp_path, monkeypatch):
    from retrograde.solver.play import match

    play, calls, file = match.play, [], tmp_path / "games.pgn"

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return play(*args)

    words = ["match", krk, "perfect", "perfect", "--games", "100", "--from", "8/8/8/8/8/2k5/1R6/K7 w", "--pgn", file]
    monkeypatch.setattr(match, "play", interrupted)
    result = retrograde(*words, status=130)
    assert "chess:KRK: perfect against perfect, 3 games, seed 1\n" in result.stdout
    assert "perfect    2     0      0     1       2         0         2          0\n" in result.stdout
    assert result.stderr == "retrograde: interrupted; 3 of 100 games were played\n"
    interrupted_file = file.read_text()
    monkeypatch.setattr(match, "play", play)
    retrograde(*[word if word != "100" else "3" for word in words])
    assert file.read_text() == interrupted_file and interrupted_file.count("[Event ") == 3
    with file.open() as games:
        assert [pgn.read_game(games).headers["Result"] for _ in range(3)] == ["1-0"] * 3
    calls[:] = [None] * 3
    monkeypatch.setattr(match, "play", interrupted)
    result = retrograde(*words, "--json", status=130)
    assert result.stdout == "" and result.stderr == "retrograde: interrupted; 0 of 100 games were played\n"


def test_black_begins(krk, tmp_path):
    _, game = played(krk, tmp_path, "--from", "8/8/8/8/8/2k5/1R6/K7_b", "--first", "perfect", "--second", "perfect")
    assert game.headers["Black"] == "perfect" and game.end().board().is_checkmate()
    assert "1... K" in (tmp_path / "game.pgn").read_text()


# The whole game


def whole(tmp_path, *args, **options):
    """Play whole chess between players that look a ply ahead; see `played`."""
    return played("chess", tmp_path, "--first", "depth:1", "--second", "depth:1", "--seed", "1", *args, **options)


@pytest.mark.thorough
def test_a_game_of_whole_chess_is_written(tmp_path):
    said, game = whole(tmp_path)
    assert not {"SetUp", "FEN"} & {*game.headers} and game.headers["Event"] == "Chess"
    end = game.end().board()
    assert len(list(game.mainline_moves())) > 20 and game.headers["Result"] == end.result(claim_draw=True) != "*"
    assert "1. " in said and "1... " in said


@pytest.mark.thorough
def test_positions_of_whole_chess_that_differ_only_in_the_clock_repeat(tmp_path):
    shuffle = ["Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1", "Ng8"]
    said, game = played("chess", tmp_path, "--second", "human", input="\n".join(shuffle))
    assert "a draw after 4 moves: this position has come up 3 times" in said
    assert game.headers["Result"] == "1/2-1/2" and game.end().board().is_repetition(3)


@pytest.mark.thorough
def test_a_game_of_whole_chess_from_a_fen_keeps_castling_and_the_clock(tmp_path):
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 97 60"
    _, game = played("chess", tmp_path, "--from", fen, "--second", "human", input="O-O\nO-O-O\nRf2\n")
    assert game.headers["FEN"] == "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 97 1"
    assert [move.uci() for move in game.mainline_moves()] == ["e8g8", "e1c1", "f8f2"]
    assert game.headers["Result"] == "1/2-1/2" and game.end().board().halfmove_clock == 100


@pytest.mark.thorough
def test_a_match_of_whole_chess_is_written(tmp_path):
    file = tmp_path / "games.pgn"
    retrograde("match", "chess", "depth:1", "random", "--games", "2", "--time", "0.1", "--pgn", file)
    with file.open() as games:
        both = [pgn.read_game(games) for _ in range(2)]
    assert [game.headers["White"] for game in both] == ["depth:1", "random"]
    assert not any(game.errors or game.headers["Result"] == "*" for game in both)


def test_only_chess_has_pgn(solved, tmp_path):
    path = solved("tictactoe")
    result = retrograde("play", path, "--pgn", tmp_path / "game.pgn", status=2)
    assert "games of tictactoe cannot be written as PGN" in result.stderr and not (tmp_path / "game.pgn").exists()


def test_a_path_for_pgn_is_tried_before_the_first_move(krk, tmp_path, monkeypatch):
    """No game is played, and no file is left or changed."""
    monkeypatch.setattr("retrograde.cli.commands.play.Match.play", lambda match: 1 / 0)
    monkeypatch.setattr("retrograde.cli.commands.match.Contest.play", lambda *_: 1 / 0)
    bad, link = tmp_path / "none" / "game.pgn", tmp_path / "link.pgn"
    link.symlink_to(bad)
    for words in (["play", krk, "--first", "perfect"], ["match", krk, "perfect", "perfect"]):
        for path in (bad, link):
            result = retrograde(*words, "--pgn", path, status=1)
            assert result.stderr == (
                f"retrograde: error: cannot write {str(path)!r}: No such file or directory; choose another path\n"
            )
            assert not result.stdout
    whole, new = tmp_path / "whole.pgn", tmp_path / "new.pgn"
    whole.write_text("1. e4 *\n")
    check_can_write(whole)
    check_can_write(new)
    assert whole.read_text() == "1. e4 *\n" and not new.exists() and not bad.parent.exists()


def test_other_games_begin_anywhere_too(solved):
    path = solved("tictactoe")
    args = ["--first", "perfect", "--second", "perfect"]
    said = {retrograde("play", path, "--from", "random", "--seed", str(seed), *args).stdout for seed in range(5)}
    assert len(said) == 5 and all(" after " in text.splitlines()[-1] for text in said)
    assert "X wins after" in retrograde("play", path, "--from", "longest", *args).stdout


def test_drawn_play_ends(solved):
    path = solved("chess:KRKN")
    args = ["--from", "8/8/8/3k4/8/8/2n5/K6R_w", "--first", "perfect", "--second", "perfect"]
    assert "a draw after" in retrograde("play", path, *args).stdout


def test_distances_in_words():
    game = Chess("KRK")
    assert [game.distance(WIN, 1), game.distance(WIN, 3), game.distance(LOSE, 2)] == [
        "mate in 1", "mate in 2", "mated in 1",
    ]  # fmt: skip
