"""`retrograde annotate`: PGN read as python-chess reads it, and written so that it reads every value; other games."""

import io
import json
import os
from random import Random

import pytest

from retrograde.cli.commands.annotations import OUR_COMMENT
from retrograde.databases import open_database
from retrograde.games import DRAW, LOSE, WIN, MoveError
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.games.chess.movetext import MOVE, RESULT, VARIATION, game_text, legal_move, read_games
from retrograde.solver.play.match import random_position, review
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but
from tests.helpers.solving import copy_whole

chess = pytest.importorskip("chess")
pgn = pytest.importorskip("chess.pgn")
engine = pytest.importorskip("chess.engine")

pytestmark = pytest.mark.long

ROOK = "8/8/8/8/8/2k5/1R6/K7 w - - 0 1"


@pytest.fixture
def home(solved, tmp_path, monkeypatch):
    """A folder of databases, which is the usual place."""
    folder = tmp_path / "home"
    folder.mkdir()
    for text in ("chess:KRK", "chess:KPK", "connect4:4,4", "tentozero", "mutorere"):
        copy_whole(solved(text), folder)
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    return folder


def annotate(text, *options, status=0):
    """Return what is said of a text, and what is said beside it."""
    done = retrograde(
        "annotate", *options, "-", input=text if isinstance(text, bytes) else text.encode(), status=status
    )
    return done.stdout, done.stderr


def theirs(text):
    """Return the games of a text as python-chess reads them."""
    stream, games = io.StringIO(text), []
    while game := pgn.read_game(stream):
        assert not game.errors
        games.append(game)
    return games


# Values


@pytest.mark.parametrize("text", thorough_but(["chess:KRK", "chess:KPK"], "chess:KRK"))
def test_every_move_is_told_and_mistakes_are_marked(home, solved, text):
    """Random games, read back by python-chess: the value of each move as an evaluation, `??` for value given up."""
    chance, mistakes, told = Random(text), 0, 0
    with Solution(open_database(solved(text))) as solution:
        for _ in range(8):
            game = pgn.Game()
            position = random_position(solution, chance)
            game.setup(chess.Board(solution.game.write(position)))
            node, wanted = game, []
            for _ in range(24):
                choices = solution.moves(position)
                if not choices:
                    break
                found = review(solution, position, chance.choice(choices[: chance.choice((1, 2, 40))]).move)
                node = node.add_variation(node.board().parse_san(found.played.name))
                wanted.append(found)
                position = found.played.position
            out, beside = annotate(f"{game}\n")
            (read,) = theirs(out)
            assert [one.move for one in read.mainline()] == [one.move for one in game.mainline()]
            for one, found in zip(read.mainline(), wanted, strict=True):
                check_told(one, found)
            count = sum(found.mistake for found in wanted)
            assert beside == f"1 game, {len(wanted)} moves known, {count} of them mistakes\n"
            mistakes += count
            told += len(wanted)
    assert mistakes > 2 and told > 60


def check_told(node, found):
    """Check what is said of a move: the child's remoteness makes the mate, seen from White."""
    told, mate = " ".join(node.comment.split()), ((found.played.remoteness or 0) + 1) // 2
    white = node.parent.turn() == chess.WHITE
    if found.played.value == DRAW:
        assert node.eval().white() == chess.engine.Cp(0) and "draw" in told
    elif node.board().is_checkmate():
        assert told == "mate" and node.eval() is None
    else:
        wins = white == (found.played.value == LOSE)
        assert node.eval().white() == chess.engine.Mate(mate if wins else -mate)
        assert f"{'White' if wins else 'Black'} mates in {mate}" in told
    assert told == "mate" or OUR_COMMENT.fullmatch(told)
    assert (pgn.NAG_BLUNDER in node.nags) == found.mistake == ("away" in told)
    if found.mistake:
        assert f"away: {found.best.name} " in told
        assert ("the win" in told) == (found.best.value == LOSE)
    elif found.played.value == LOSE and found.played.remoteness > found.best.remoteness:
        sooner = (found.played.remoteness - found.best.remoteness) // 2
        assert f"{found.best.name} mates {sooner} move{'s' * (sooner != 1)} sooner" in told


def test_what_is_known_of_a_win_thrown_away(home):
    out, beside = annotate(f'[SetUp "1"]\n[FEN "{ROOK}"]\n\n1. Rb3+ Kxb3 1/2-1/2\n')
    flat = " ".join(out.split())
    assert "1. Rb3+ $4 { [%eval 0.00] draw; this gives the win away: Kb1 mates in 16 } 1... Kxb3" in flat
    assert '[Annotator "retrograde"]' in out and beside == "1 game, 2 moves known, 1 of them mistakes\n"


def test_a_game_is_annotated_from_where_it_enters_the_databases(home):
    """The ending before is not at hand, which is said once; the moves before that have too many men."""
    fen = "8/8/8/8/8/2k5/1R6/K5n1 w - - 0 1"
    out, beside = annotate(f'[SetUp "1"]\n[FEN "{fen}"]\n\n1. Rb8 Ne2 2. Rb1 Ng1 3. Rxg1 Kd3 4. Kb2 *\n')
    evaluations = [node.eval() for node in theirs(out)[0].mainline()]
    assert [one is not None for one in evaluations] == [False] * 5 + [True] * 2
    assert beside.count("no database of KRKN; make one with: retrograde solve chess:KRKN") == 1
    full = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O Nf6 5. d3 b5 *\n"
    out, beside = annotate(full)
    assert out.split() == full.split() and beside == "1 game: no move is known to the databases here\n"


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("8/8/8/8/8/1k6/1R6/4K3 b - - 0 1", "1... Kxb2 2. Kd2 Kb3"),  # bare kings
        ("8/8/8/8/8/8/8/KBk5 b - - 0 1", "1... Kd2 2. Bf5 Ke3"),
        ("8/8/8/8/8/3b4/8/KBk5 w - - 0 1", "1. Bxd3 Kd2 2. Bb1 Kc1"),  # bishops on one colour
        ("8/8/8/8/8/2n5/8/KRk5 b - - 0 1", "1... Nxb1 2. Ka2 Nd2"),
    ],
)
def test_moves_after_a_dead_position_are_draws(home, fen, moves):
    """For the rules the game is over there; by PGN it may go on. The next game is annotated as well."""
    out, beside = annotate(f'[FEN "{fen}"]\n\n{moves} 1/2-1/2\n\n[FEN "{ROOK}"]\n\n1. Re2 *\n')
    first, second = theirs(out)
    nodes = list(first.mainline())
    assert [node.eval() and node.eval().white() for node in nodes[-2:]] == [chess.engine.Cp(0)] * 2
    assert [" ".join(node.comment.split()) for node in nodes[-2:]] == ["[%eval 0.00] draw"] * 2
    assert second.next().eval() is not None and not any(pgn.NAG_BLUNDER in node.nags for node in nodes)
    assert not any(f"no database of {name};" in beside for name in ("KK", "KBK", "KNK"))


def test_chess_may_be_named(home):
    text = f'[SetUp "1"]\n[FEN "{ROOK}"]\n\n1. Re2 *\n'
    assert annotate(text, "chess") == annotate(text)


def test_what_the_author_said_stays(home):
    text = f"""[Event "A \\"match\\""]
[FEN "{ROOK}"]
[SetUp "1"]
[Annotator "somebody"]

1. Rb8 {{fine}} Kc4 2.Rb1?! (2. Rc8+ ; check}} indeed
Kd5 (2... Kb4 $6) 3. Kb2) 2... Kd4 3.Rd1+ Kc3 4. Rd3+?? {{oh!}} Kxd3 1/2-1/2
"""
    out, _ = annotate(text)
    (before,), (after,) = theirs(text), theirs(out)
    assert dict(after.headers) == dict(before.headers)
    nodes = list(zip(before.mainline(), after.mainline(), strict=True))
    for one, other in nodes:
        assert one.move == other.move and other.comment.endswith(one.comment)
        assert other.nags == one.nags  # the mistake was marked by the author
    assert out.count("$4") == 1 and "??" not in out
    assert nodes[1][0].variations[0].move == nodes[1][1].variations[0].move
    assert str(after.next().next().variations[1].move) == "b8c8"
    assert [str(line.move) for line in after.next().next().variations[1].mainline()] == ["c4d5", "a1b2"]
    assert "check) indeed" in " ".join(out.split())
    again, _ = annotate(out)
    assert [node.move for node in theirs(again)[0].mainline()] == [node.move for node in after.mainline()]


def test_json(home):
    out, _ = annotate(f'[FEN "{ROOK}"]\n\n1. Rb3+ Kxb3 1/2-1/2\n\n1. e4 *\n', "--json")
    first, second = map(json.loads, out.splitlines())
    assert first["tags"] == {"FEN": ROOK} and second["tags"] == {}
    assert first["moves"] == [
        {"move": "Rb3+", "value": "draw", "remoteness": None, "mistake": True, "best": "Kb1", "best_value": "win"},
        {"move": "Kxb3", "value": "draw", "remoteness": None, "mistake": False, "best": "Kxb3", "best_value": "draw"},
    ]
    assert second["moves"] == [
        {"move": "e4", "value": None, "remoteness": None, "mistake": None, "best": None, "best_value": None}
    ]


# Reading


@pytest.mark.parametrize("seed", thorough_but(range(4), 0))
def test_games_are_read_as_python_chess_reads_them(seed):
    """Random games from the start with comments, glyphs and variations, two by two; written and read again."""
    chance, texts = Random(seed), []
    for _ in range(2):
        game = pgn.Game()
        node = game
        for _ in range(60):
            legal = list(node.board().legal_moves)
            if not legal:
                break
            if chance.random() < 0.1 and len(legal) > 1:
                other = node.add_variation(legal[0], comment="or (so [it] seems 1-0")
                if replies := list(other.board().legal_moves):
                    other.add_variation(replies[0], nags=[chance.randrange(1, 140)])
                legal = legal[1:]
            node = node.add_main_variation(chance.choice(legal))
            if chance.random() < 0.2:
                node.comment = chance.choice(("a long story " * 12, "1. e4 {", "$3 *"))
                node.nags = {chance.randrange(1, 7)} if chance.random() < 0.5 else set()
        texts.append(str(game))
    ours = list(read_games("\n\n".join(texts)))
    assert len(ours) == 2
    for game, text in zip(ours, texts, strict=True):
        (wanted,) = theirs(text)
        board = AnyBoard.from_fen(game.start)
        moves = [word.text for word in game.words if word.kind == MOVE]
        for move, node in zip(moves, wanted.mainline(), strict=True):
            assert legal_move(board, move) == node.move.uci() == legal_move(board, node.move.uci())
            board = board.after(node.move.uci())
        (again,) = theirs(game_text(game))
        assert " ".join(str(again).split()) == " ".join(text.split())
        assert game.words[-1].kind == RESULT
        assert sum(word.kind == VARIATION for word in game.words) == sum(
            len(node.parent.variations) - 1 for node in wanted.mainline()
        )


@pytest.mark.parametrize(
    ("fen", "text", "move"),
    [
        (STARTING_POSITION, "e4", "e2e4"),
        (STARTING_POSITION, "Nf3", "g1f3"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0", "e1g1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "O-O-O+", "e8c8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w kq - 0 1", "O-O", None),
        ("8/4P1k1/8/8/8/8/8/K7 w - - 0 1", "e8=N+", "e7e8n"),
        ("8/4P1k1/8/8/8/8/8/K7 w - - 0 1", "e8Q", "e7e8q"),
        ("8/4P1k1/8/8/8/8/8/K7 w - - 0 1", "e8", None),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", "e5d6"),
        ("6k1/8/8/8/8/8/R6R/K7 w - - 0 1", "Rd2", None),
        ("6k1/8/8/8/8/8/R6R/K7 w - - 0 1", "Rad2", "a2d2"),
        ("6k1/8/8/8/8/8/R6R/K7 w - - 0 1", "Rh2-d2", "h2d2"),
        ("6k1/8/8/8/8/8/R6R/K7 w - - 0 1", "--", None),
    ],
)
def test_moves_are_read_on_any_board(fen, text, move):
    board = AnyBoard.from_fen(fen)
    if move is None:
        with pytest.raises(MoveError):
            legal_move(board, text)
    else:
        assert legal_move(board, text) == move
        assert chess.Board(fen).parse_san(text.replace("e8Q", "e8=Q")).uci() == move


def test_moves_that_are_none_are_told_and_lose_nothing(home):
    text = f"""[Event "careless "quotes""]

1. e4 Ke5 2. d4 1-0

[FEN "{ROOK}"]

1. Rb8 Kc4 *

[FEN "nonsense"]

1. Rb8 Kc4 *
"""
    out, beside = annotate(text, status=1)
    assert "game 1, ply 2: no move 'Ke5' in rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" in beside
    assert "game 3: no FEN 'nonsense'" in beside and "3 games, 2 moves known" in beside
    assert "1. e4 Ke5 2. d4 1-0" in out and '[Event "careless \\"quotes\\""]' in out
    assert "[%eval #15]" in out and out.rstrip().endswith("1. Rb8 Kc4 *")


def test_files_of_every_kind(home, tmp_path):
    path = tmp_path / "game.pgn"
    path.write_bytes('\ufeff[White "Müller"]\r\n\r\n1. e4 *\r\n'.encode())
    assert retrograde("annotate", path).stdout == '[White "Müller"]\n\n1. e4 *\n'
    assert '[White "Müller"]' in annotate('[White "Müller"]\n\n1. e4 *\n'.encode("latin-1"))[0]
    assert "1 game: no move" in annotate("1. e4 ( { ) } ) 1-0 [")[1]
    for rest in ("(1. e4 (", "{ never closed", "%\n$1 ) }"):
        assert annotate(rest, status=1)[1].startswith("retrograde: error: standard input is no PGN; ")
    assert "no such file" in retrograde("annotate", tmp_path / "none.pgn", status=1).output.lower()
    assert "a FILE of PGN, or a VARIANT and a FILE" in retrograde("annotate", "a", "b", "c", status=2).output
    assert "there is no 'nowhere'" in retrograde("annotate", "--database", "nowhere", path, status=1).output


@pytest.mark.parametrize("encoding", ["cp437", "koi8-r", "cp1252"])
def test_pgn_is_written_as_utf8_whatever_the_encoding_of_the_output(encoding, home):
    told = retrograde("annotate", "-", input='[White "Müller, Ødegård"]\n\n1. e4 *\n'.encode(), charset=encoding)
    assert '[White "Müller, Ødegård"]' in told.stdout_bytes.decode("utf-8")


def test_a_database_may_be_named(solved, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    text = f'[FEN "{ROOK}"]\n\n1. Rb8 *\n'
    assert "no database of KRK" in annotate(text)[1]
    assert "1 game, 1 move known, no mistake" in annotate(text, "--database", str(solved("chess:KRK")))[1]
    assert "1 game, 1 move known, no mistake" in annotate(text, "--database", os.path.dirname(solved("chess:KRK")))[1]


def test_what_is_no_pgn_is_refused_in_a_line_and_no_control_character_is_shown(home, tmp_path):
    moves, none = tmp_path / "moves.txt", tmp_path / "none.pgn"
    moves.write_text("1 2 3 4 1 1\n")
    none.write_text("\n")
    for path in (home / "tictactoe.h5", home / "chess,KRK.h5", moves, none):
        path.touch()
        done = retrograde("annotate", path, status=1)
        hint = "for another game name the variant, as in: retrograde annotate connect4:4,4 moves.txt"
        assert done.output == f"retrograde: error: {str(path)!r} is no PGN; {hint}\n"
    done = retrograde("annotate", "connect4:4,4", home / "chess,KRK.h5", status=1)
    assert "is no text" in done.output and done.output.count("\n") == 1
    assert "no games in" in retrograde("annotate", "connect4:4,4", none, status=1).output
    shown = annotate('[White "A\x1b[31m\tB"]\n\n1. e4 {\x07} \x1b[2J *\n', status=1)
    assert '[White "A\ufffd[31m B"]' in shown[0]
    bad = retrograde("annotate", "connect4:4,4", "-", input=b"1 \x1b[2J\x9b\n", status=1)
    assert not {"\x1b", "\x07", "\x9b"} & {*"".join(shown), *bad.output}


# PGN as it is found


def test_games_of_other_variants_are_left_as_they_are(home):
    """Byte for byte, with what stands between them, and the games of chess beside them are annotated."""
    others = (
        '[Variant "Antichess"]\n[FEN "8/8/8/8/8/2k5/8/KR6 w - - 0 1"]\n\n1. Rb3   Kxb3 {??} *\n\n',
        '[Variant "Crazyhouse"]\n\n1. e4 d5 2. exd5 Qxd5 3.P@e4 1-0\n\n',
    )
    same = (
        f'[Variant "{name}"]\n[FEN "8/8/8/8/8/2k5/1R6/K7 w - - 0 1"]\n\n1. Rb3+ *\n\n'
        for name in ("Standard", "normal", "From Position", "Chess960", "fischerandom", "?")
    )
    out, beside = annotate(others[0] + "".join(same) + others[1])
    assert out.startswith(others[0]) and out.endswith(others[1].rstrip() + "\n") and out.count("$4") == 6
    assert "game 1: Antichess is not chess; it is left as it is\n" in beside
    assert "game 8: Crazyhouse is not chess; it is left as it is\n" in beside
    told = [json.loads(line) for line in annotate(others[0], "--json")[0].splitlines()]
    assert [(move["move"], move["value"]) for move in told[0]["moves"]] == [("Rb3", None), ("Kxb3", None)]


def test_signs_that_stand_alone_are_glyphs(home):
    text = "1. e4 = e5 ± 2. Nf3 N Nc6 +- 3. Bb5 ?! a6 -+ 4. Ba4± Nf6 ∞ ( 4... b5 = 5. Bb3 ⩲ ) 5. O-O Be7 ?? *\n"
    out, beside = annotate(text)
    (game,) = theirs(out)
    assert [sorted(node.nags) for node in game.mainline()] == [
        [10], [16], [146], [18], [pgn.NAG_DUBIOUS_MOVE], [19], [16], [13], [], [4]
    ]  # fmt: skip
    assert "( 4... b5 $10 5. Bb3 $14 )" in " ".join(out.split()) and "no move '" not in beside


def test_null_moves_and_promotions_in_brackets(home):
    """The side to move changes; in check there is no null move."""
    out, beside = annotate(f'[FEN "{ROOK}"]\n\n1. -- Kd3 2. Z0 0000 3. Rb8 @@@@ 4. Rd8+ -- *\n', status=1)
    assert [word.text for word in next(read_games(out)).words if word.kind == MOVE] == [
        "--", "Kd3", "Z0", "0000", "Rb8", "@@@@", "Rd8+", "--"
    ]  # fmt: skip
    assert out.count("%eval") == 3 and "game 1, ply 8: no null move in check" in beside
    promotes = '[FEN "8/P7/8/8/8/2k5/8/K7 w - - 0 1"]\n\n1. a8(Q) ( 1. a8(R)+ ) 1... Kb3 2. Qa5 *\n'
    out, beside = annotate(promotes)
    flat = " ".join(out.split())
    assert flat.count("%eval") == 3 and "1. a8(Q) { [%eval #" in flat and "( 1. a8(R)+ )" in flat
    assert "3 moves known" in beside


def test_castling_of_chess960(home):
    """python-chess reads the same moves before and after, and a right that is lost is lost."""
    fen = "1rk3r1/1p4p1/8/8/8/8/1P4P1/1RK3R1 w KQkq - 0 1"
    text = f'[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n1. O-O O-O-O 2. Rbc1+ Kb8 *\n'
    out, beside = annotate(text)
    (before,), (after,) = theirs(text), theirs(out)
    assert [*before.mainline_moves()] == [*after.mainline_moves()] and len([*after.mainline_moves()]) == 4
    assert beside == "1 game: no move is known to the databases here\n"
    assert "no move 'O-O'" in annotate(text.replace("1. O-O O-O-O", "1. Rh1 Rh8 2. Rg1 Rg8 3. O-O"), status=1)[1]
    for name, text in (("g1", "O-O"), ("g1", "c1g1"), ("b1", "0-0-0"), ("b1", "c1b1")):
        assert legal_move(AnyBoard.from_fen(fen, chess960=True), text) == f"c1{name}"
    usual = AnyBoard.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert legal_move(usual, "e1h1") == "e1g1" and legal_move(usual, "O-O-O") == "e1c1"


def test_remarks_before_and_behind_games_are_kept(home):
    first, second = '[White "A"]\n\n{ first } 1. e4 *\n', '[White "B"]\n\n1. d4 *\n'
    out, beside = annotate(f"{{ before }} \n; and this\n{first}\n{second}{{ last }}\n")
    assert beside.startswith("2 games: ")
    assert out == f"{first.replace('{ first', '{ before } { and this } { first')}\n{second}\n{{ last }}\n"


def test_annotated_again_a_game_is_the_same(home):
    text = f"""[FEN "{ROOK}"]

1. Rb8 {{ [%eval 3.1,20] [%clk 0:01] good }} Kc4 {{ [%eval #15] }} 2. Rb1 Kd4 3. Rd1+ $4 Kc3 4. Rd3+ Kxd3 1/2-1/2
"""
    once, _ = annotate(text)
    again, _ = annotate(once)
    assert again == once and "3.1" not in once and "[%clk 0:01] good" in once
    assert once.count("%eval") == 8 and once.count("$4") == 2  # the author's own mark stays
    blamed = once.replace("1. Rb8 {", "1. Rb8 $4 { [%eval 0.00] draw; this gives the win away: Kb1 mates in 16 } {")
    assert annotate(blamed)[0] == once  # as another database had said it
    marked = once.replace("1. Rb8 {", "1. Rb8 $4 {")
    assert annotate(marked)[0] == marked


def test_files_in_the_wild_survive(home, tmp_path):
    """A stand-in for python-chess' sample files: what python-chess reads is the same but for what we say of moves."""
    wild = """[Event "AlphaZero vs. Stockfish"]

[Date "2017.12.04"]
[Foo-Bar "x"]

1. e4  e5  2. Nf3  Nc6  3. Bb5 {+0.22/13 0.28s} Nf6
{(0.00 -> 0.75) Inaccuracy.} { [%clk 0:01:00] }  4. O-O  Bc5
 5. Bxc6  dxc6 1/2-1/2

[Event "b"]

g1f3 c7c5 e2e4 d7d6 e1e2 *
"""
    out, beside = annotate(wild)
    before, after = theirs(wild), theirs(out)
    assert [str(game) for game in before] == [str(game) for game in after] and len(after) == 2
    assert "no move '" not in beside


# Other games


def test_other_games(home, solved):
    """A game a line; what is written can be read again."""
    text = "1 2 3 4 1 {a comment} 1\n\n# nothing\n2 2 2 2 2 1\n"
    path = home / "moves.txt"
    path.write_text(text)
    done = retrograde("annotate", "connect4:4,4", path, status=1)
    first, second = done.stdout.splitlines()
    assert "line 4: no move '2' here; the moves are 1 3 4; the moves from there on stay without comments" in done.stderr
    assert second.endswith(" 2 1") and "2 games" in done.stderr
    with Solution(open_database(solved("connect4:4,4"))) as solution:
        position, mistakes = solution.start, 0
        for name, told in zip("123411", first.rstrip("}").split("} "), strict=True):
            found = review(solution, position, solution.game.move(position, name))
            mistakes += found.mistake
            assert told.startswith(f"{name}{'??' if found.mistake else ''} {{")
            assert (f"; {found.best.name} " in told) == found.mistake
            if found.value in (WIN, LOSE):
                side = ("Red", "Yellow")["123411".index(name) % 2] if found.value == WIN else ""
                assert side in told and f"wins in {found.played.remoteness}" in told
            position = found.played.position
    again = retrograde("annotate", "connect4:4,4", "-", input=first.encode())
    assert again.stdout == first + "\n"
    (told,) = [
        json.loads(line)
        for line in retrograde("annotate", "connect4:4,4", "-", "--json", input=b"1 2").stdout.splitlines()
    ]
    assert [move["move"] for move in told["moves"]] == ["1", "2"] and told["moves"][0]["value"] == "tie"


def test_the_end_of_other_games(home):
    lines = "+1 +2 +1 +2 +2 +2 +1\n"
    done = retrograde("annotate", "tentozero", "-", input=lines.encode(), status=1)
    assert "the game is over before '+1'" in done.stderr
    assert "+2 {who moved has won} +1" in done.stdout
    assert "draw" in retrograde("annotate", "mutorere", "-", input=b"1").stdout
    assert "has no start" in retrograde("annotate", "chess:KRK", "-", input=b"Kb1", status=1).output
