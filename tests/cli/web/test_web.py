"""The server: GamesCrafters' and Lichess' APIs field for field, what the page asks for, bad requests, many at once."""

import json
import os
import random
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web.app import STATIC, make_app
from retrograde.cli.web.hosts import Hosts
from retrograde.databases import database_path, open_database
from retrograde.games.catalog import load_game, variant
from retrograde.solver.engine import solve
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import COMMAND, HEAP, LATE, environment, retrograde
from tests.helpers.serving import Server, client_of, fill, get
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

VARIANTS = ["tictactoe", "connect4:4,4", "mutorere", "chess:KRK", "chess:KQKR"]


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder of databases."""
    return fill(tmp_path_factory.mktemp("home"), solved, VARIANTS)


@pytest.fixture(scope="module")
def by_the_rule(solved, tmp_path_factory):
    """A folder of endings with their distances to zeroing beside them."""
    folder = fill(tmp_path_factory.mktemp("zeroing"), solved, ["chess:KPK", "chess:KQKR", "chess:KRK"])
    for name in ("chess:KPK", "chess:KQKR"):
        copy_whole(solved(name), folder)
    for name in ("chess:KPK", "chess:KQKR", "chess:KRK"):
        copy_whole(solved(name, "dtz"), folder)
    return folder


@pytest.fixture
def client(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    return client_of()


# GamesCrafters


def test_the_games(client):
    games = get(client, "/")
    assert {"id": "mutorere", "name": "Mū Tōrere", "type": "twoPlayer", "gui": "v1"} in games
    assert [game["id"] for game in games] == ["chess", "connect4", "mutorere", "tictactoe"]
    assert get(client, "/chess/") == {
        "id": "chess",
        "name": "Chess endgames",
        "allowCustomVariantCreation": False,
        "supportsWinBy": False,
        "variants": [
            {"id": "KQKR", "name": "King and queen against king and rook", "gui": "v1"},
            {"id": "KRK", "name": "King and rook against king", "gui": "v1"},
        ],
    }
    about = get(client, "/mutorere/regular/")
    assert (about["id"], about["name"], about["gui"]) == ("regular", "Regular", "v1")
    assert about["startPosition"] == "XXXXOOOO/./X"
    assert about["autoguiStartPosition"].startswith("1_") and about["autoguiStartPosition"].endswith("xxxxoooo-")
    assert set(about) == {"id", "name", "gui", "startPosition", "autoguiStartPosition", "imageAutoGUIData"}
    told = get(client, "/mutorere/regular/instructions/", locale="en-US")
    assert list(told) == ["instructions"] and told["instructions"].startswith("# Mū Tōrere\n\nMove a stone")


def test_a_position_as_gamescrafters_tell_it(client):
    """Their own example, a win in 5 (README of GamesCraftersUWAPI), with the stones of both sides in our notation."""
    answer = get(client, "/mutorere/regular/positions/", p="XOOOXXX./O/X")
    assert answer == {
        "position": "XOOOXXX./O/X",
        "autoguiPosition": answer["autoguiPosition"],
        "positionValue": "win",
        "remoteness": 5,
        "moves": answer["moves"],
    }
    assert [
        (move["moveValue"], move["positionValue"], move["remoteness"], move["deltaRemoteness"])
        for move in answer["moves"]
    ] == [("win", "lose", 4, 0), ("lose", "win", 1, 0)]
    assert [move["move"] for move in answer["moves"]] == ["7", "1"]
    assert set(answer["moves"][0]) == {
        *("move", "autoguiMove", "moveValue", "deltaRemoteness"),
        *("position", "autoguiPosition", "positionValue", "remoteness"),
    }


def test_draws_have_no_end_and_deltas_are_of_moves_of_a_value(client, home):
    start = get(client, "/mutorere/regular/positions/", p="XXXXOOOO/./X")
    assert (start["positionValue"], start["remoteness"]) == ("draw", -200)
    with Solution(open_database(database_path("connect4:width=4,height=4", home))) as solution:
        game, chance = solution.game, random.Random(1)
        for _ in range(30):
            position = game.start
            for _ in range(chance.randrange(14)):
                if solution.moves(position):
                    position = chance.choice(solution.moves(position)).position
            ids = chance.choice(("width-4_height-4", "width=4,height=4"))  # the id, and the options as we write them
            answer = get(client, f"/connect4/{ids}/positions/", p=game.write(position))
            value, remoteness = solution.value(position)
            assert (answer["positionValue"], answer["remoteness"]) == (value.name.lower(), remoteness)
            for move in answer["moves"]:
                same = [other["remoteness"] for other in answer["moves"] if other["moveValue"] == move["moveValue"]]
                best = max(same) if move["moveValue"] == "lose" else min(same)
                assert move["deltaRemoteness"] == abs(move["remoteness"] - best)
            order = [("win", "tie", "draw", "lose").index(move["moveValue"]) for move in answer["moves"]]
            assert order == sorted(order)


# Lichess


def test_a_position_as_lichess_tells_it(client):
    answer = get(client, "/standard", fen="8/8/8/8/8/2k5/1R6/K7_b_-_-_0_1")
    assert {key: answer[key] for key in answer if key != "moves"} == {
        "category": "loss", "dtz": None, "precise_dtz": None, "dtw": None, "dtc": None, "dtm": -32, "checkmate": False,
        "stalemate": False, "variant_win": False, "variant_loss": False, "insufficient_material": False,
    }  # fmt: skip
    assert [(move["uci"], move["san"], move["category"], move["dtm"]) for move in answer["moves"]] == [
        ("c3d4", "Kd4", "win", 31),
        ("c3d3", "Kd3", "win", 29),
        ("c3c4", "Kc4", "win", 29),
    ]
    assert all(set(move) == {*answer} - {"moves"} | {"uci", "san", "zeroing", "conversion"} for move in answer["moves"])


def test_the_ends_of_chess(client):
    mate = get(client, "/standard", fen="R5k1/8/6K1/8/8/8/8/8 b - - 0 1")
    assert (mate["category"], mate["checkmate"], mate["dtm"], mate["moves"]) == ("loss", True, None, [])
    stalemate = get(client, "/standard", fen="k7/2Q5/1K6/8/8/8/8/8 b - - 0 1")
    assert (stalemate["category"], stalemate["stalemate"], stalemate["dtm"]) == ("draw", True, 0)
    bare = get(client, "/standard", fen="8/8/8/3k4/8/8/8/K7 w - - 0 1")
    assert (bare["category"], bare["insufficient_material"]) == ("draw", True)
    takes = get(client, "/standard", fen="8/8/8/8/8/8/1k6/1R2K3 b - - 0 1")["moves"][0]
    assert (takes["san"], takes["zeroing"], takes["insufficient_material"], takes["dtm"]) == ("Kxb1", True, True, 0)
    winning = get(client, "/standard", fen="7k/8/5K2/6R1/8/8/8/8 w - - 0 1")
    assert winning["dtm"] == winning["moves"][0]["dtm"] * -1 + 1


def test_conversions_are_captures_and_promotions(client, home, solved):
    copy_whole(solved("chess:KPK"), home)
    moves = get(client, "/standard", fen="8/4P3/2k5/8/8/8/8/K7 w - - 0 1")["moves"]
    told = {move["san"]: (move["zeroing"], move["conversion"]) for move in moves}
    assert told["e8=Q+"] == (True, True) and told["Kb1"] == (False, False)
    moves = get(client, "/standard", fen="8/8/8/8/8/8/K3P3/6k1 w - - 0 1")["moves"]
    assert {move["san"]: (move["zeroing"], move["conversion"]) for move in moves}["e4"] == (True, False)
    takes = get(client, "/standard", fen="8/8/8/8/8/8/1k6/1R2K3 b - - 0 1")["moves"][0]
    assert (takes["zeroing"], takes["conversion"]) == (True, True)
    os.remove(home / solved("chess:KPK").name)


@pytest.mark.parametrize(
    ("fen", "category", "first"),
    [
        ("8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "win", "loss"),  # 31 plies
        ("8/8/8/8/8/2k5/1R6/K7 w - - 69 90", "win", "loss"),  # mate comes with the hundredth ply
        ("8/8/8/8/8/2k5/1R6/K7 w - - 70 90", "cursed-win", "blessed-loss"),  # one too late, and nothing to capture
        ("8/8/8/8/8/2k5/1R6/K7 b - - 69 90", "blessed-loss", "cursed-win"),
        ("8/8/8/8/8/2k5/1R6/K7_b_-_-_68_90", "loss", "win"),
        ("R5k1/8/6K1/8/8/8/8/8 b - - 100 90", "loss", None),  # it was mate first
        ("R5k1/8/6K1/8/8/8/8/8 b - - 101 90", "blessed-loss", None),
        ("8/8/8/8/8/1k6/1p6/1K6 w - - 99 1", "draw", None),
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 0 1", "win", "loss"),
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 90 1", "maybe-win", "maybe-loss"),  # the rook may fall first, or not
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 99 1", "cursed-win", "blessed-loss"),  # it cannot fall now
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 100 1", "cursed-win", "blessed-loss"),  # the game is a draw
        ("6k1/3r4/8/8/Q7/8/8/K7 w - - 99 1", "win", "loss"),  # the rook falls now
        ("6k1/3r4/8/8/Q7/8/8/K7 w - - 100 1", "cursed-win", "blessed-loss"),  # the game is a draw already
    ],
)
def test_what_the_fifty_move_rule_leaves(client, home, solved, fen, category, first):
    """The counter of FEN, and how far mate is, tell a win from a cursed one; where they do not, it may be one."""
    copy_whole(solved("chess:KPK"), home)
    answer = get(client, "/standard", fen=fen)
    os.remove(home / solved("chess:KPK").name)
    assert answer["category"] == category
    assert first is None or answer["moves"][0]["category"] == first
    order = ["loss", "unknown", "maybe-loss", "blessed-loss", "draw", "cursed-win", "maybe-win", "win"]
    ranks = [order.index(move["category"]) for move in answer["moves"]]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("fen", "category", "dtz", "first"),
    [
        pytest.param("6k1/5r2/8/8/8/8/8/KQ6 w - - 0 1", "win", 47, "loss", marks=pytest.mark.thorough),
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 53 1", "win", 47, "loss"),
        ("6k1/5r2/8/8/8/8/8/KQ6 w - - 54 1", "cursed-win", 47, "blessed-loss"),
        ("6k1/3r4/8/8/Q7/8/8/K7 w - - 99 1", "win", 1, "loss"),  # the rook falls now
        ("R5k1/8/6K1/8/8/8/8/8 b - - 100 90", "loss", -1, None),  # mate
        ("8/8/8/8/8/1k6/1p6/1K6 w - - 99 1", "draw", 0, None),
    ],
)
def test_the_fifty_move_rule_by_distance_to_zeroing(by_the_rule, monkeypatch, fen, category, dtz, first):
    """Where it is known, nothing is left open."""
    monkeypatch.setenv("RETROGRADE_HOME", str(by_the_rule))
    answer = get(client_of(), "/standard", fen=fen)
    assert (answer["category"], answer["dtz"], answer["precise_dtz"]) == (category, dtz, dtz)
    assert first is None or answer["moves"][0]["category"] == first


@pytest.mark.thorough
def test_conversion_is_told_where_it_is_known(by_the_rule, solved, tmp_path, monkeypatch):
    """Without pawns it is as far as zeroing is; a promotion is one of three moves that a pawn needs."""
    for name in ("chess:KQKR", "chess:KPK"):
        copy_whole(database_path(name, by_the_rule), tmp_path)
        copy_whole(solved(name, "dtc"), tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    client = client_of()
    answer = get(client, "/standard", fen="6k1/5r2/8/8/8/8/8/KQ6 w - - 0 1")
    assert (answer["dtc"], answer["dtz"], answer["moves"][0]["dtc"]) == (47, None, -46)
    assert get(client, "/standard", fen="4k3/8/4P3/4K3/8/8/8/8 b - - 0 1")["dtc"] == 0
    pawn = get(client, "/standard", fen="7k/8/1P6/8/8/8/8/K7 w - - 0 1")
    assert pawn["dtc"] == 3 < pawn["dtm"]
    assert get(client, "/standard", fen="R5k1/8/6K1/8/8/8/8/8 b - - 0 1")["dtc"] is None
    (database_path("chess:KPK", tmp_path, "dtc")).write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="the answer does not say how far captures and promotions are"):
        assert get(client_of(()), "/standard", fen="7k/8/1P6/8/8/8/8/K7 w - - 0 1")["dtc"] is None


def test_the_mainline(client):
    """It is best play: as long as mate is far, each step a legal move; python-chess agrees on the end."""
    chess = pytest.importorskip("chess")
    fen = "8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    answer = get(client, "/standard/mainline", fen=fen)
    assert (answer["dtm"], answer["dtz"], answer["winner"]) == (31, None, "w")
    board = chess.Board(fen)
    for step in answer["mainline"]:
        move = chess.Move.from_uci(step["uci"])
        assert board.san(move) == step["san"] and step["dtz"] is None
        board.push(move)
    assert board.is_checkmate() and len(answer["mainline"]) == 31
    distances = [step["dtm"] for step in answer["mainline"]]
    assert distances == [*((-1) ** (ply + 1) * (30 - ply) for ply in range(30)), None]
    claimed = get(client, "/standard/mainline", fen="8/8/8/8/8/2k5/1R6/K7 w - - 90 1")
    assert (len(claimed["mainline"]), claimed["winner"]) == (10, None)  # then it is a draw
    drawn = get(client, "/standard/mainline", fen="8/8/8/3k4/8/8/8/K7 w - - 0 1")
    assert (drawn["mainline"], drawn["winner"], drawn["dtm"]) == ([], None, 0)
    mated = get(client, "/standard/mainline", fen="R5k1/8/6K1/8/8/8/8/8 b - - 0 1")
    assert (mated["mainline"], mated["winner"]) == ([], "w")
    assert "KQKQ" in get(client, "/standard/mainline", 404, fen="3qk3/8/8/8/8/8/8/3QK3 w - - 0 1")["error"]
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert "32 men" in get(client, "/standard/mainline", 404, fen=start)["error"]
    assert "no FEN" in get(client, "/standard/mainline", 400, fen="nonsense")["error"]


def test_large_answers_are_compressed(client):
    """For those who can read it; small ones are not, and what is read is the same."""
    address = "/standard?fen=8/8/8/8/8/2k5/1R6/K7_w_-_-_0_1"
    plain = client.get(address, headers={"accept-encoding": "identity"})
    packed = client.get(address, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()
    assert int(packed.headers["content-length"]) * 4 < int(plain.headers["content-length"])
    assert "accept-encoding" in packed.headers["vary"].lower()
    assert client.head(address, headers={"accept-encoding": "gzip"}).content == b""
    assert "content-encoding" not in client.get("/mutorere/", headers={"accept-encoding": "gzip"}).headers


def test_what_no_database_knows_is_unknown(client):
    answer = get(client, "/standard", fen="8/8/8/3k4/8/8/4P3/K7 w - - 0 1")
    assert (answer["category"], answer["dtm"]) == ("unknown", None)
    assert {move["san"] for move in answer["moves"]} >= {"e4+", "e3", "Kb2"}
    start = get(client, "/standard", fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-_0_1")
    assert (start["category"], start["dtm"], len(start["moves"])) == ("unknown", None, 20)
    assert ("g1f3", "Nf3") in {(move["uci"], move["san"]) for move in start["moves"]}


def test_boards_that_no_ending_has_are_told_by_their_moves(client):
    """As Lichess' server tells them, by its own tests: castling rights, and eight men with a mate."""
    castling = get(client, "/standard", fen="4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
    told = {move["san"]: move for move in castling["moves"]}
    assert (castling["category"], castling["dtm"]) == ("win", None)
    losses = [-move["dtm"] for move in castling["moves"] if move["category"] == "loss"]
    assert losses == sorted(losses) and len(losses) > 3
    other = get(client, "/standard", fen="4k3/8/8/8/8/8/8/R3K3 b Q - 0 1")
    assert {(move["category"], move["dtm"]) for move in [other, *other["moves"]]} == {("unknown", None)}
    assert told["Kf2"]["category"] == told["O-O-O"]["category"] == "loss" and told["Kf2"]["dtm"] < 0
    assert told["O-O-O"]["uci"] == "e1c1" and told["Rb1"]["category"] == "loss"
    eight = get(client, "/standard", fen="7k/7p/1R6/6P1/P7/5n2/4r3/7K b - - 0 41")
    assert eight["category"] == "win" and len(eight["moves"]) > 10
    first = eight["moves"][0]
    assert (first["san"], first["category"], first["checkmate"], first["dtm"]) == ("Rh2#", "loss", True, None)
    assert eight["moves"][2]["category"] == "unknown"
    drawn = get(client, "/standard", fen="7k/7p/1R6/6P1/P7/5n2/4r3/7K b - - 100 41")
    mate = next(move for move in drawn["moves"] if move["checkmate"])
    assert (drawn["category"], mate["category"]) == ("unknown", "blessed-loss")
    takes = {move["san"]: move for move in eight["moves"]}["h6"]
    assert (takes["zeroing"], takes["conversion"], takes["stalemate"]) == (True, False, False)
    assert "castling" in get(client, "/standard/mainline", 404, fen="4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")["error"]


def test_moves_are_told_where_the_men_can_give_no_mate(client):
    """By python-chess' moves; all of them lead to draws."""
    chess = pytest.importorskip("chess")
    for fen in ("8/8/8/3k4/8/8/8/K7 w - - 0 1", "8/8/8/3k4/8/8/3N4/K7 b - - 0 1", "8/8/8/8/8/1k6/8/KB6 w - - 0 1"):
        answer, board = get(client, "/standard", fen=fen), chess.Board(fen)
        assert sorted(move["san"] for move in answer["moves"]) == sorted(map(board.san, board.legal_moves))
        assert {move["category"] for move in answer["moves"]} <= {"draw"} and answer["category"] == "draw"
        assert (answer["insufficient_material"], answer["stalemate"], answer["dtm"]) == (True, board.is_stalemate(), 0)


def test_fen_of_other_men_goes_to_the_database_that_has_them(tmp_path, solved, monkeypatch):
    """Where none has them, what is wrong is said, and how it is solved."""
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, ["chess:KRK"])))
    client = client_of()
    fen = "8/8/8/8/8/2k5/1Q6/K7 b"
    for path in ("/api/position", "/api/game"):
        assert "retrograde solve chess:KQK" in get(client, path, 400, variant="chess:KRK", position=fen)["error"]
    fill(tmp_path, solved, ["chess:KQK"])
    there, here = (get(client, "/api/position", variant=name, position=fen) for name in ("chess:KRK", "chess:KQK"))
    assert there == here and there["variant"] == "chess:KQK"
    played = get(client, "/api/game", variant="chess:KRK", position=fen)
    assert (played["variant"], played["title"]) == ("chess:KQK", there["title"])


# The page's own


def test_what_the_page_is_told(client):
    variants = {one["variant"]: one for one in get(client, "/api/variants")}
    plain = {"metric": "remoteness", "measure": ""}
    assert variants["tictactoe"]["start"] == {"value": "tie", "remoteness": 9, **plain}
    assert variants["chess:KRK"]["start"] is None
    assert variants["mutorere"] == {
        "variant": "mutorere", "name": "Mū Tōrere", "positions": 1180,
        "start": {"value": "draw", "remoteness": None, **plain},
    }  # fmt: skip
    assert variants["connect4:width=4,height=4"]["positions"] == 161029
    told = get(client, "/api/position", variant="tictactoe", position="XX./OO./...", line=True)
    assert (told["value"], told["remoteness"], told["turn"], told["over"]) == ("win", 1, "X", False)
    assert told["line"] == ["c1"] and told["summary"].startswith("Claim cells in turn")
    assert told["moves"][0] == {
        "name": "c1", "value": "win", "remoteness": 1, "best": True, "places": [2], "position": "XXX/OO./...",
        "steps": [], "reach": [], "known": "", "again": False, "worth": "", "mark": "", "odds": "", "paid": [],
        "count": None,
    }  # fmt: skip
    assert [place["name"] for place in told["places"][:3]] == ["a1", "b1", "c1"]
    assert [place["piece"] for place in told["places"][:3]] == ["cross", "cross", ""]
    assert told["svg"].startswith("<svg ")
    over = get(client, "/api/position", variant="chess:KRK", position="R5k1/8/6K1/8/8/8/8/8 b")
    assert (over["over"], over["ending"], over["turn"]) == (True, "checkmate", "Black")
    assert get(client, "/api/position", variant="tictactoe")["position"] == ".../.../..."
    assert get(client, "/api/position", variant="chess:KRK", position="random")["moves"]
    reply = get(client, "/api/reply", variant="tictactoe", position="XX./OO./...")
    assert reply == {"name": "c1", "position": "XXX/OO./..."}
    replies = [
        get(client, "/api/reply", variant="tictactoe", position=".../.../...", skill=0, seed=seed)["name"]
        for seed in range(20)
    ]
    assert len(set(replies)) > 3
    about = get(client, "/api/database", variant="mutorere")
    counts = about["counts"]
    assert (about["file"], about["positions"]) == ("mutorere.h5", 1180)
    sent = client.get("/api/download", params={"variant": "mutorere"})
    assert len(sent.content) == about["bytes"] and sent.content[1:4] == b"HDF"
    assert "mutorere.h5" in sent.headers["content-disposition"]
    assert client.get("/api/download", params={"variant": "no/such"}).status_code == 404
    assert sum(row["positions"] for row in counts) == 1180
    assert any(row["remoteness"] is None and row["value"] == "draw" for row in counts)


def test_the_page_and_what_it_is_made_of(client):
    page = client.get("/?v=tictactoe", headers={"accept": "text/html"})
    assert page.text.startswith("<!doctype html>")
    assert "http://" not in page.text and "https://" not in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    gallery = client.get("/", headers={"accept": "text/html"})
    assert "gallery.js" in gallery.text and "page.js" not in gallery.text
    for name in (path.name for path in STATIC.iterdir()):
        text = client.get(f"/static/{name}").text
        assert "//cdn" not in text and "https://" not in text


def test_a_game_is_told_by_its_moves(client):
    game = get(client, "/api/game", variant="connect4:4,4", moves="1,2,1")
    assert (game["variant"], game["title"]) == ("connect4:width=4,height=4", "Connect Four 4 × 4")
    assert (game["players"], game["usual"], game["problem"]) == (["Red", "Yellow"], True, "")
    assert [step["name"] for step in game["steps"]] == ["", "1", "2", "1"]
    assert [step["turn"] for step in game["steps"]] == ["Red", "Yellow", "Red", "Yellow"]
    last = get(client, "/api/position", variant="connect4:4,4", position=game["steps"][-1]["position"])
    assert {key: last[key] for key in ("value", "remoteness", "turn", "over")} == {
        key: game["steps"][-1][key] for key in ("value", "remoteness", "turn", "over")
    }
    bad = get(client, "/api/game", variant="connect4:4,4", moves="1,9,1")
    assert len(bad["steps"]) == 2 and bad["problem"].startswith("move 2, '9', cannot be made: no move '9' here")
    beyond = get(client, "/api/game", variant="tictactoe", position="XX./OO./...", moves="c1,c2")
    assert (len(beyond["steps"]), beyond["usual"]) == (2, False)
    assert beyond["problem"] == "move 2, 'c2', cannot be made: the game is over there"
    get(client, "/api/game", 422, variant="tictactoe", moves="a" * 5001)


def test_both_players_have_names_where_the_game_is_over(client):
    for text, names in (("O.O/XO./XXX", ["O", "X"]), ("XX./OO./...", ["X", "O"]), (None, ["X", "O"])):
        where = {"variant": "tictactoe"} | ({"position": text} if text else {})
        assert get(client, "/api/position", **where)["players"] == names
        assert get(client, "/api/game", **where)["players"] == names
    mated = get(client, "/api/position", variant="chess:KRK", position="R6k/8/7K/8/8/8/8/8 b")
    assert mated["over"] and mated["players"] == ["Black", "White"]


def test_the_scorecard_of_the_page_is_that_of_the_terminal(client, home, monkeypatch):
    from retrograde.cli.render.moves import scorecard

    moves = ["a1", "b1", "a2", "b2", "a3"]
    marks = get(client, "/api/scorecard", variant="tictactoe", position=".../.../...", moves=",".join(moves))
    assert [mark["verdict"] for mark in marks] == ["best", "mistake", "best", "slower", "best"]
    assert marks[1] == {
        "verdict": "mistake", "value": "lose", "remoteness": 6, "best_value": "tie", "best_remoteness": 8,
        "better": ["b2"], "worth": "", "best_worth": "",
    }  # fmt: skip
    with Solution(open_database(database_path("tictactoe", home))) as solution:
        game, positions, numbers = solution.game, [solution.game.start], []
        for name in moves:
            numbers.append(game.move(positions[-1], name))
            positions.append(game.do_move(positions[-1], numbers[-1]))
        lines = scorecard(solution, positions, numbers, range(5), range(6)).splitlines()
    assert "3 of 5 moves perfect, 1 threw something away" in lines[0]
    for line, mark in zip(lines[1:], marks, strict=True):
        assert ("threw" in line) == (mark["verdict"] == "mistake") and ("better" in line) == bool(mark["better"])
    assert (
        "no move" in get(client, "/api/scorecard", 400, variant="tictactoe", position=".../.../...", moves="z")["error"]
    )


def test_a_game_of_chess_is_told_as_pgn(client):
    import io

    chess = pytest.importorskip("chess.pgn")
    fen = "7k/8/5K2/6R1/8/8/8/8 w"
    asked = {"variant": "chess:KRK", "position": fen, "moves": "Kf7,Kh7", "first": 'A"]\n', "second": "B"}
    text = client.get("/api/pgn", params=asked).text
    game = chess.read_game(io.StringIO(text))
    assert [move.uci() for move in game.mainline_moves()] == ["f6f7", "h8h7"]
    assert (game.headers["White"], game.headers["Black"], game.headers["Result"]) == ("A]", "B", "*")
    error = get(client, "/api/pgn", 400, variant="tictactoe", position=".../.../...")["error"]
    assert "cannot be written as PGN" in error


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nogame/", 404, "no variant of 'nogame'"),
        ("/nogame/regular/", 404, "no game 'nogame'"),
        ("/connect4/width=4/", 404, "no database for connect4:width=4"),
        ("/connect4/width=x/", 404, "width"),
        ("/tictactoe/regular/positions/?p=zz", 400, "no position 'zz' of tictactoe"),
        ("/tictactoe/regular/positions/?p=XXX/.../OOO", 404, "cannot be reached"),
        ("/tictactoe/regular/positions/", 422, "p: field required"),
        ("/standard", 422, "fen: field required"),
        ("/standard?fen=nonsense", 400, "no FEN"),
        ("/api/position", 422, "variant: field required"),
        ("/api/position?variant=../../etc/passwd", 404, "no game"),
        ("/api/position?variant=./mygame.py", 404, "no game"),
        ("/api/position?variant=tictactoe&position=" + "X" * 500, 422, "position"),
        ("/api/reply?variant=tictactoe&position=XXX/OO./...", 400, "the game is over"),
        ("/api/reply?variant=tictactoe&position=...&skill=2", 422, "skill"),
        ("/api/database?variant=", 404, "no game"),
        ("/a/b/c/d", 404, "not found"),
    ],
)
def test_bad_requests_are_explained(client, path, status, words):
    response = client.get(path)
    assert response.status_code == status, response.text
    answer = response.json()
    assert words.lower() in str(answer.get("error", answer)).lower()


def test_a_damaged_database_is_not_available(home, tmp_path, monkeypatch):
    path = database_path("tictactoe", tmp_path)
    path.write_bytes(database_path("tictactoe", home).read_bytes())
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    client = client_of()
    good = get(client, "/api/position", variant="tictactoe")
    path.write_bytes(b"no database")
    assert "cannot be read now" in get(client, "/api/position", 503, variant="tictactoe")["error"]
    assert get(client, "/api/variants") == []
    path.unlink()
    solve(load_game("tictactoe"), path)
    assert get(client, "/api/position", variant="tictactoe") == good
    path.unlink()
    assert (
        get(client, "/api/position", variant="tictactoe")["value"] is None
    )  # now it is searched, when that is asked for


def test_only_the_variants_given_are_served(home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    client = client_of(["tictactoe"])
    assert [one["variant"] for one in get(client, "/api/variants")] == ["tictactoe"]
    assert "not served" in get(client, "/mutorere/regular/", 404)["error"]
    assert get(client, "/standard", fen="8/8/8/8/8/2k5/1R6/K7_b_-_-_0_1")["category"] == "unknown"
    rules = tmp_path / "heap.py"
    rules.write_text(HEAP)
    game = load_game(str(rules))
    solve(game, database_path(variant(game), home))
    client = client_of([str(rules)])
    assert get(client, "/api/position", variant="heap")["value"] == "win"
    assert get(client, "/heap/regular/positions/", p="9")["remoteness"] == 5
    database_path("heap", home).unlink()


def test_serving_needs_a_database_and_a_port(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    assert "no game 'nogame'" in retrograde("serve", "nogame", status=1).output
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "try another --port" in retrograde("serve", "--port", str(port), status=1).output


# The whole server


@pytest.fixture
def server(home, tmp_path):
    for text in VARIANTS:
        path = database_path(variant(load_game(text)), home)
        (tmp_path / path.name).write_bytes(path.read_bytes())
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.mark.thorough
def test_many_ask_at_once_while_a_database_is_replaced(server, tmp_path):
    httpx = pytest.importorskip("httpx")
    game = load_game("connect4:4,4")
    path = database_path(variant(game), tmp_path)
    with Solution(open_database(path)) as solution:
        wanted = {}
        chance = random.Random(7)
        for _ in range(200):
            position = game.start
            for _ in range(chance.randrange(12)):
                if solution.moves(position):
                    position = chance.choice(solution.moves(position)).position
            value, remoteness = solution.value(position)
            wanted[game.write(position)] = (value.name.lower(), remoteness)
    places = list(wanted)
    done = threading.Event()

    def replace():
        while not done.is_set():
            command = [*COMMAND, "solve", "connect4:4,4", "--fresh"]
            subprocess.run(command, env=environment(tmp_path), check=True, capture_output=True)

    def ask(number):
        with httpx.Client(base_url=server.url, timeout=LATE) as client:
            counts = {200: 0, 503: 0}
            for k in range(number, 2000, 16):
                place = places[k % len(places)]
                response = client.get("connect4/width=4,height=4/positions/", params={"p": place})
                counts[response.status_code] += 1
                if response.status_code == 200:
                    answer = response.json()
                    assert (answer["positionValue"], answer["remoteness"]) == wanted[place]
                else:
                    assert "cannot be read now" in response.json()["error"]
            return counts

    solver = threading.Thread(target=replace)
    before = os.stat(path).st_ino
    solver.start()
    try:
        with ThreadPoolExecutor(16) as clients:
            counts = list(clients.map(ask, range(16)))
    finally:
        done.set()
        solver.join()
    assert sum(sum(count.values()) for count in counts) == 2000
    assert sum(count[200] for count in counts) > 1900
    assert os.stat(path).st_ino != before


@pytest.mark.thorough
def test_the_description_holds(home, monkeypatch):
    """No request that the OpenAPI description allows, or forbids, makes the server fail."""
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings

    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    app = make_app((), Hosts(frozenset({"testserver"})))  # the name that Schemathesis knows
    description = schemathesis.openapi.from_asgi("/openapi.json", app)
    unmeant = [schemathesis.checks.positive_data_acceptance]  # not every text is a position
    for operation in description.get_all_operations():

        @settings(max_examples=10, suppress_health_check=list(HealthCheck))
        @given(case=operation.ok().as_strategy())
        def holds(case):
            response = case.call()
            assert response.status_code < 500 and response.status_code != 421, (case.path, response.text)
            case.validate_response(response, excluded_checks=unmeant)

        holds()


def test_positions_are_set_up_by_what_stands_on_the_board(client):
    parts = get(client, "/api/board", variant="chess:KRK")
    assert [one["sign"] for one in parts["men"]] == list("KQRBNPkqrbnp")
    assert parts["men"][2]["name"] == "white rook" and parts["men"][2]["svg"].startswith("<g ")
    assert parts["players"] == [{"sign": "K", "name": "White"}, {"sign": "k", "name": "Black"}]
    assert (parts["start"], parts["empty"]) == (None, "." * 64)
    told = get(client, "/api/setup", variant="chess:KRK", pieces="k" + "." * 21 + "K.......R" + "." * 33, turn="k")
    assert told == {"position": "k7/8/6K1/6R1/8/8/8/8 b - - 0 1"}
    for pieces, turn, complaint in [
        ("K" + "." * 63, "K", "no legal position: Black has no king; put one"),
        ("K", "K", "no board 'K'; it takes 64 signs of .KQRBNPkqrbnp"),
        ("/" * 64, "K", "no board '////"),
    ]:
        assert get(client, "/api/setup", 400, variant="chess:KRK", pieces=pieces, turn=turn)["error"].startswith(
            complaint
        )
    unreached = get(client, "/api/setup", 404, variant="tictactoe", pieces="XXXOOO...", turn="X")
    assert unreached["error"] == "such a position cannot be reached from the start"
    parts = get(client, "/api/board", variant="tictactoe")
    assert (parts["start"], parts["first"], [one["sign"] for one in parts["players"]]) == ("." * 9, "X", ["X", "O"])


def test_the_description_names_everything(client):
    description = get(client, "/openapi.json")
    assert set(description["paths"]) == {
        "/", "/{game}/", "/{game}/{variant}/", "/{game}/{variant}/positions/", "/{game}/{variant}/instructions/",
        "/standard", "/standard/mainline", "/api/variants", "/api/position", "/api/reply", "/api/database", "/api/game",
        "/api/scorecard", "/api/pgn", "/api/gallery", "/api/about", "/api/picture", "/api/solves", "/api/solve",
        "/api/cancel", "/api/board", "/api/setup", "/api/download",
    }  # fmt: skip
    wishes = {path for path, operations in description["paths"].items() if set(operations) == {"post"}}
    assert wishes == {"/api/solve", "/api/cancel"}
    for operations in description["paths"].values():
        assert next(iter(operations.values()))["description"]
    assert json.dumps(description).count("#/components/schemas/Error") > 10
