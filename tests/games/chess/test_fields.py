"""The one reader of FEN and EPD, and what query, annotate, UCI, the server and Python take from it."""

import json
from random import Random

import pytest

import retrograde as package
from retrograde.cli.uci.engine import Engine
from retrograde.games import PositionError
from retrograde.games.chess import Chess, fields
from retrograde.games.chess.anyboard import AnyBoard
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but
from tests.helpers.serving import client_of, get
from tests.helpers.solving import copy_whole

chess = pytest.importorskip("chess")

BISHOPS = "8/8/6k1/3B4/3K4/4N3/8/8 w - -"


@pytest.mark.parametrize(
    ("rest", "count", "number"),
    [
        ("", 0, 1),
        (";", 0, 1),
        ("54", 54, 1),
        ("54 106", 54, 106),
        ("54 106;", 54, 106),
        ("hmvc 54; fmvn 106;", 54, 106),
        ("fmvn 106;hmvc 54", 54, 106),
        ('bm Kc5 Ne4; id "a; b hmvc 3;"; hmvc 54;', 54, 1),
        ('54 106 id "one";', 54, 106),
        ("acd 3; foo;", 0, 1),
        ("bm Kc5", 0, 1),
    ],
)
def test_counters_of_fen_and_epd(rest, count, number):
    for text in (f"{BISHOPS} {rest}", f"{BISHOPS} {rest}".replace(" ", "_")):
        told = fields.read(text)
        assert (told.count, told.number) == (count, number)
        assert AnyBoard.from_fen(text).count == fields.count_in(text) == count
        assert Chess("KBNK").read(text) == Chess("KBNK").read(BISHOPS)


@pytest.mark.parametrize(
    "rest",
    ["+54 1", "5x4 1", "-7 1", "54 -1", "0 1 2", "zero 1", "3+3", "3+3 0 1", "0 1 +0+0", "hmvc -7;", "hmvc;", "1e2 1",
     "hmvc 3; hmvc 4;", "3 1 hmvc 4;", 'id "open', "\u0665 1", "1234567 1", "- -"],
)  # fmt: skip
def test_other_counters_are_refused_by_all(rest):
    text, said = f"{BISHOPS} {rest}", []
    for read in (Chess("KBNK").read, AnyBoard.from_fen, fields.read):
        with pytest.raises(PositionError, match=r"no (FEN|EPD)") as caught:
            read(text)
        assert "\n" not in str(caught.value)
    assert ("three-check" in str(caught.value)) == ("+" in rest and "+5" not in rest)
    Engine(said.append).answer(f"position fen {text}")
    assert said[0].startswith("info string no ")


@pytest.mark.parametrize(
    ("fen", "castling"),
    [
        ("8/8/8/3k4/8/8/2n5/K6R w KQkq -", "-"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQkq -", "KQ"),
        ("4k3/8/8/8/8/8/8/R3K2R w HA -", "KQ"),
        ("4k3/8/8/8/8/8/8/1K4R1 w KQ -", "-"),
        ("4k3/8/8/8/8/8/8/1K4R1 w G -", "K"),
        ("4k3/8/8/8/8/8/8/1K3RR1 w F -", "F"),
    ],
)
def test_rights_to_castle_are_those_that_men_can_have(fen, castling):
    assert AnyBoard.from_fen(fen).fen().split()[2] == castling
    if castling == "-":
        assert Chess("KRKN").read(fen) == Chess("KRKN").read(fen.replace("KQkq", "-").replace("KQ", "-"))
    else:
        with pytest.raises(PositionError, match=f"castling rights '{castling}'"):
            Chess("KRRK").read(fen)


def test_chess960_is_played_as_python_chess_plays_it():
    """Random games from random beginnings, castling whenever half a coin says so."""
    chance, castled = Random(5), 0
    for _ in range(6):
        theirs = chess.Board.from_chess960_pos(chance.randrange(960))
        ours = AnyBoard.from_fen(theirs.fen(), chess960=True)
        for _ in range(60):
            moves = {}
            for move in theirs.legal_moves:
                usual = chess.square_file(move.from_square) == 4 and chess.square_file(move.to_square) in (0, 7)
                moves[theirs.uci(move, chess960=not usual)] = move
            castles = [name for name, move in moves.items() if theirs.is_castling(move)]
            assert sorted(ours.moves()) == sorted(moves)
            if not moves:
                break
            name = chance.choice(castles if castles and chance.random() < 0.5 else list(moves))
            castled += name in castles
            theirs.push(moves[name])
            ours = ours.after(name)
            assert (ours.fen().split()[:4], ours.count) == (theirs.fen().split()[:4], theirs.halfmove_clock)
    assert castled > 3


# Whoever takes positions


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder with rook against king by the mate and by zeroing, and queen against king."""
    folder = tmp_path_factory.mktemp("home")
    for ending in ("KRK", "KQK"):
        copy_whole(solved(f"chess:{ending}"), folder)
    copy_whole(solved("chess:KRK", "dtz"), folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize(("count", "category"), [("69", "win"), ("70", "cursed-win")])
@pytest.mark.parametrize(
    "form", thorough_but(["{} 90", "{} 90;", "hmvc {}; fmvn 90;", "hmvc {};"], "hmvc {}; fmvn 90;")
)
def test_all_count_by_the_same_counter(home, monkeypatch, form, count, category):
    """Mate, or a draw by the fifty-move rule, with the hundredth ply or one too late; whatever form tells the count."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    fen, won = f"8/8/8/8/8/2k5/1R6/K7 w KQkq - {form.format(count)}", category == "win"
    assert json.loads(retrograde("query", "chess", fen, "--json").stdout)["category"] == category
    assert json.loads(retrograde("query", "chess:KRK", fen, "--json").stdout)["category"] == category
    (line,) = retrograde("query", "--batch", "-", "--moves", "--json", input=f"{fen}\n").stdout.splitlines()
    assert json.loads(line)["category"] == category
    client = client_of()
    assert get(client, "/standard", fen=fen)["category"] == category
    assert (get(client, "/api/position", variant="chess:KRK", position=fen)["value"] == "win") == won
    said = []
    engine = Engine(said.append)
    for command in (f"setoption name DatabasePath value {home}", f"position fen {fen}", "go", "ucinewgame"):
        engine.answer(command)
    assert ("mate 16" in said[0]) == won and ("cp 1" in said[0].split("nodes")[0]) != won
    annotated = retrograde("annotate", "-", input=f'[FEN "{fen}"]\n\n1. Kb1 *\n').stdout
    assert ("mates in 15" in annotated) == won and ("draw by the fifty-move rule" in annotated) != won
    with package.open_tablebase(home) as tables:
        assert tables.probe_dtm(fen) == 31


@pytest.mark.long
def test_no_command_reads_what_another_refuses(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    client = client_of()
    for rest in ("+54 1", "5x4 1", "-7 1", "3+3 0 1"):
        fen, said = f"8/8/8/8/8/2k5/1R6/K7 w - - {rest}", []
        assert "no FEN" in retrograde("query", "chess", fen, status=1).stderr
        assert "no FEN" in retrograde("query", "chess:KRK", fen, status=1).stderr
        assert "no FEN" in retrograde("query", "--batch", "-", input=fen, status=1).stdout
        assert "no FEN" in get(client, "/standard", 400, fen=fen)["error"]
        assert "no FEN" in get(client, "/api/position", 400, variant="chess:KRK", position=fen)["error"]
        assert "no FEN" in retrograde("annotate", "-", input=f'[FEN "{fen}"]\n\n1. Kb1 *\n', status=1).stderr
        Engine(said.append).answer(f"position fen {fen}")
        assert said[0].startswith("info string no FEN")
        with package.open_tablebase(home) as tables, pytest.raises(PositionError, match="no FEN"):
            tables.probe_dtm(fen)
