"""Endings of draughts, against what has been published, and against rules and a solver that are slow and obvious.

Counts of positions by pieces: the pages of Chinook, https://webdocs.cs.ualberta.ca/~chinook/databases/total.php. Games
from the start: those that programs for checkers tell as perft. Won, drawn and lost endings of two and three pieces, and
their longest wins: a slow program of its own; of king against king, E. Trice's slice of perfect play as well.
"""

import json
import re
from itertools import pairwise
from math import comb
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import DRAW, MoveError, PositionError, load
from retrograde.games.chess.movetext import COMMENT, MOVE, read_games
from retrograde.games.draughts import Draughts
from retrograde.games.draughts.board import packed, unpacked
from retrograde.games.draughts.sides import name_of, sides_of
from retrograde.solver.play.match import review
from retrograde.solver.play.solution import open_solution
from tests.helpers import checkers
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough
from tests.helpers.paths import ROOT

PERFT = [7, 49, 302, 1_469, 7_361, 36_768]
PLACEMENTS = {1: 120, 2: 6_972, 3: 261_224, 4: 7_092_774, 5: 148_688_232, 6: 2_503_611_964, 7: 34_779_531_480}
"""By pieces: both sides to move, positions of one side alone included."""
TWO = {("K", "K"): (230, 654, 108), ("K", "M"): (331, 531, 6), ("M", "K"): (53, 574, 241), ("M", "M"): (102, 611, 47)}


# The slow rules, and ours


def test_games_from_the_start():
    board = checkers.start(8)
    assert [checkers.perft(board, "b", 8, plies) for plies in range(1, 6)] == PERFT[:5]


@pytest.mark.slow
def test_longer_games_from_the_start():
    assert checkers.perft(checkers.start(8), "b", 8, 6) == PERFT[5]


def scattered(game, dice, most):
    """Return a position by chance, of pieces for which a position has room."""
    white = dice.random() < 0.5
    squares = dice.sample(range(game.squares), dice.randint(2, min(most, game.squares)))
    own = other = kings = 0
    for square in squares:
        mine, king = dice.random() < 0.4, dice.random() < 0.5
        own |= mine << square
        other |= (not mine) << square
        last = square >= game.squares - game.width if mine else square < game.width
        kings |= (king or last) << square
    return packed(0 if white else 1, own, other, kings)


def slow_board(game, position):
    """Return the board of the slow rules, and who is to move."""
    text = game.write(position)
    turn, white, black = text.split(":")
    board = {
        checkers.cell_of(int(one.lstrip("K")), game.rows): side[0].upper() if one[0] == "K" else side[0].lower()
        for side in (white, black)
        for one in filter(None, side[1:].split(","))
    }
    assert checkers.text_of(board, turn.lower(), game.rows) == text
    return board, turn.lower()


@pytest.mark.parametrize(("rows", "most"), [(4, 4), thorough((6, 9)), (8, 14)])
def test_moves_are_those_of_the_slow_rules(rows, most):
    game, dice = Draughts("KvK", rows), Random(rows)
    captures = 0
    for _ in range(1_500):
        position = scattered(game, dice, most)
        board, turn = slow_board(game, position)
        ours = [
            (game.move_name(position, move), game.write(game.do_move(position, move)))
            for move in game.generate_moves(position)
        ]
        other = "w" if turn == "b" else "b"
        slowly = [(name, checkers.text_of(after, other, rows)) for name, after in checkers.moves(board, turn, rows)]
        assert sorted(ours) == sorted(slowly), game.write(position)
        assert len(ours) == len({name for name, _ in ours})
        assert bool(ours) == (game.primitive(position) == 0)
        captures += any(name.count("x") > 1 for name, _ in ours)
    assert captures > 10 or rows == 4  # of several pieces, for which four rows have no room


def test_only_kings_that_capture_nothing_stay_in_a_tier():
    game, dice = Draughts("KvK"), Random(1)
    for _ in range(1_000):
        position = scattered(game, dice, 8)
        own, _, kings = unpacked(position)
        for move in game.generate_moves(position):
            is_step = "-" in game.move_name(position, move) and kings >> (move & 31) & own >> (move & 31) & 1
            rise = game.tier(game.do_move(position, move)) - game.tier(position)
            assert rise == 0 if is_step else rise > 0


# The numbering


@pytest.mark.parametrize("variant", ["3,4", "KMvM,6", "KvK", "MvM"])
def test_every_slot_stands_for_a_position_of_its_own(variant):
    game = load(f"draughts:{variant}")
    for tier in game.tiers:
        positions = [game.unindex(tier, slot) for slot in range(game.size(tier))]
        assert len(set(positions)) == len(positions)
        assert [game.index(position) for position in positions] == list(range(len(positions)))
        assert {game.tier(position) for position in positions} == {tier}
        assert all(len([*game.images(one)]) == game.multiplicity(one) for one in positions)
        assert all(game.index(image) == slot for slot, one in enumerate(positions) for image in game.images(one))


@pytest.mark.parametrize("variant", ["7", "8,6", "10,6"])
def test_slots_of_many_pieces_undo_positions(variant):
    game, dice = load(f"draughts:{variant}"), Random(2)
    for tier in dice.sample(game.tiers, 300):
        slot = dice.randrange(game.size(tier))
        position = game.unindex(tier, slot)
        assert (game.tier(position), game.index(position)) == (tier, slot)


def placements(pieces):
    """Return how many placements of pieces there are, by the formula of Chinook: men of either side, those on rows that
    are closed to the other's first, and then kings."""
    return sum(
        comb(4, near) * comb(24, white - near) * comb(28 - (white - near), black)
        * comb(32 - white - black, kings) * comb(kings, white_kings)
        for white in range(pieces + 1)
        for black in range(pieces + 1 - white)
        for near in range(white + 1)
        for kings in [pieces - white - black]
        for white_kings in range(kings + 1)
    )  # fmt: skip


def of_one_side(pieces):
    """Return how many placements of pieces of one colour there are."""
    return sum(comb(28, men) * comb(32 - men, pieces - men) for men in range(pieces + 1))


@pytest.mark.parametrize("pieces", PLACEMENTS)
def test_as_many_positions_as_chinook_counts(pieces):
    """Ours have both sides to move by an exchange of colours; of one side alone, only those in which the other is."""
    assert placements(pieces) == PLACEMENTS[pieces]
    game = Draughts(str(min(pieces + 1, 8)))
    sizes = {True: 0, False: 0}
    for tier in game.tiers:
        first, second = sides_of(tier)
        if sum(first + second) == pieces:
            sizes[sum(second) > 0] += game.size(tier)
    assert sizes[True] + 2 * of_one_side(pieces) == PLACEMENTS[pieces]
    assert sizes[False] == of_one_side(pieces)


@pytest.mark.parametrize(
    ("variant", "positions"),
    {"MMvMM": 2_862_452, "MMMvMMM": 883_256_452, "MMMMvMMMM,6": 575_945_609, "MMMMMvMMMMM,6": 8_630_214_641}.items(),
)
def test_as_many_positions_as_a_slow_program_counts(variant, positions):
    """With both sides there, and at most so many pieces on either: by a program of its own."""
    game = load(f"draughts:{variant}")
    assert sum(game.size(tier) for tier in game.tiers if sum(sides_of(tier)[1])) == positions


def test_tiers_ascend_with_names_of_their_own():
    game = Draughts("4")
    assert all(one < other for one, other in pairwise(game.tiers))
    assert len({name_of(tier) for tier in game.tiers}) == len(game.tiers)
    assert set(Draughts("KMvM").tiers) < set(Draughts("3").tiers) < set(game.tiers)
    assert Draughts("KMvM").family == Draughts("4").family != Draughts("4", 6).family


# What endings are worth


def pieces_of(game):
    """Return the pieces of all endings of a game, of both colours, as the slow solver wants them."""
    found = set()
    for tier in game.tiers:
        first, second = sides_of(tier)
        for white, black in ((first, second), (second, first)):
            found.add("W" * white[0] + "w" * white[1] + "B" * black[0] + "b" * black[1])
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    "variant",
    [
        *("2", "MMvMM,4", "4,4"),
        *(pytest.param(slow, marks=pytest.mark.slow) for slow in ("3,6", "MMvM")),
    ],
)
@pytest.mark.long
def test_values_and_plies_are_those_of_the_slow_solver(variant, solved):
    game = load(f"draughts:{variant}")
    slowly = checkers.solution(pieces_of(game), game.rows)
    compared = 0
    with open_database(solved(f"draughts:{variant}"), game=game) as database:
        for tier in game.tiers:
            for slot in range(game.size(tier)):
                position = game.unindex(tier, slot)
                for image in game.images(position):
                    value, plies = database[image]
                    assert (value.name.lower(), plies) == slowly[game.write(image)], game.write(image)
                    compared += 1
    assert compared == database.file.positions
    over = {"W": lambda text: text.endswith(":B"), "B": lambda text: ":W:" in text}
    assert compared == sum(not over[text[0]](text) for text in slowly)  # but where the side to move has taken all


def slices(path):
    """Return the slices of a database, by what either side has: won, drawn and lost positions, the longest win."""
    found = json.loads(retrograde("info", path, "--json").stdout)["slices"]
    return {(one["own"], one["other"]): (one["win"], one["draw"], one["lose"], one["longest_win"]) for one in found}


def in_all(found, pieces):
    """Return what slices of so many pieces come to together."""
    chosen = [numbers for (own, other), numbers in found.items() if len(own + other) == pieces]
    return *(sum(column) for column in list(zip(*chosen, strict=True))[:3]), max(one[3] for one in chosen)


@pytest.mark.thorough
@pytest.mark.parametrize("pieces", [2, thorough(3)])
def test_two_and_three_pieces_are_worth_what_is_published(pieces, solved):
    found = slices(solved(f"draughts:{pieces}"))
    assert {sides: found[sides][:3] for sides in TWO} == TWO
    assert found["K", "K"][3] == 11
    assert in_all(found, 2) == (716, 2_370, 402, 13)
    assert slices(solved("draughts:KvK")) == {("K", "K"): found["K", "K"]}
    assert retrograde("verify", solved(f"draughts:{pieces}")).exit_code == 0
    if pieces > 2:
        assert in_all(found, 3) == (100_250, 8_477, 87_305, 61)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pieces", "worth"),
    [(4, (2_574_304, 1_717_922, 1_917_090, 109)), (5, (71_334_772, 11_122_892, 56_993_144, 161))],
)
def test_all_endings_of_some_pieces(pieces, worth, solved):
    """As many of them as Chinook has, and those of fewer pieces as before; what they are worth is told in the docs."""
    path = solved(f"draughts:{pieces}")
    found = slices(path)
    assert retrograde("verify", path).exit_code == 0
    assert in_all(found, 3) == (100_250, 8_477, 87_305, 61)
    assert in_all(found, pieces) == worth
    assert sum(worth[:3]) == PLACEMENTS[pieces] - 2 * of_one_side(pieces)


# For people


def test_positions_as_pdn_has_them():
    game = Draughts("KMvMM")
    position = game.read("W:W22,K30:B18,11")
    assert game.write(position) == "W:W22,K30:B11,18"
    for same in ('"W:B18,11:WK30,22."', "w:w22,k30:b11,18", " W:B11,18:W22,K30"):
        assert game.read(same) == position
    assert Draughts("MMMvK").read("B:W21-23:BK1") == Draughts("MMMvK").read("B:W21,22,23:BK1")
    assert game.read_pieces(game.draw_pieces(position), "w") == position
    assert game.canonical(game.read("B:W15,22:BK3,11")) == position


def test_moves_as_pdn_has_them():
    game = Draughts("KMvMM")
    position = game.read("W:W22,K30:B18,11")
    (move,) = game.generate_moves(position)
    assert game.move_name(position, move) == "22x15x8"
    assert game.move(position, "22x15x8") == game.move(position, "22x8") == game.move(position, "22-8") == move
    assert game.write(game.do_move(position, move)) == "B:W8,K30:B"
    assert game.draw_move(position, move) == (42, 28, 14)
    assert game.draw_steps(position, move) == ((42,), (28,), (14,))
    with pytest.raises(MoveError, match="no move '22-17' here; the moves are 22x15x8"):
        game.move(position, "22-17")


def test_a_king_may_capture_round_either_way():
    """The same pieces go, in two orders, and so there are two names of what comes to the same."""
    game = Draughts("5")
    position = game.read("W:WK22:B9,10,17,18")
    moves = {game.move_name(position, move): move for move in game.generate_moves(position)}
    assert set(moves) == {"22x15x6x13x22", "22x13x6x15x22"}
    assert {game.write(game.do_move(position, move)) for move in moves.values()} == {"B:WK22:B"}
    with pytest.raises(MoveError, match="'22x22' may be any of 22x15x6x13x22 22x13x6x15x22"):
        game.move(position, "22x22")


def test_games_as_pdn_has_them():
    game = Draughts("KKvK")
    position = game.read("B:WK31,K32:BK19")
    moves = []
    for name in ("19-23", "31-26", "23x30", "32-27"):
        moves.append(game.move(position, name))
        position = game.do_move(position, moves[-1])
    lines = game.pgn(game.read("B:WK31,K32:BK19"), moves, ["perfect", "random"], False).splitlines()
    assert lines[-1] == "1... 19-23 2. 31-26 23x30 3. 32-27 *"
    assert {'[FEN "B:WK31,K32:BK19"]', '[Black "perfect"]', '[White "random"]', '[GameType "21"]'} < set(lines)
    assert game.pgn(game.read("W:W:BK19"), [], ["a", "b"], True).endswith("\n0-1\n")
    resigned = game.pgn(game.read("B:WK31,K32:BK19"), moves[:1], ["a", "b"], False, resigned=True)
    assert '[Result "0-1"]' in resigned and resigned.endswith("\n1... 19-23 {White resigns} 0-1\n")
    assert game.pgn(game.read("B:WK31,K32:BK19"), [], ["a", "b"], False, True).endswith("\n{Black resigns} 1-0\n")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2])
def test_pdn_is_read_as_it_is_written(solved, tmp_path, seed):
    """A game of the perfect player against chance, annotated, and annotated again; values are the database's."""
    path, record = solved("draughts:KKvK"), tmp_path / "kings.pdn"
    first, second = ("perfect", "random") if seed == 1 else ("random", "perfect")
    players = "--first", first, "--second", second
    retrograde("play", path, "--from", "longest", *players, "--seed", seed, "--pgn", record)
    told = ("annotate", "draughts:KKvK", "--database", path)
    once = retrograde(*told, record).stdout
    assert retrograde(*told, "-", input=once.encode()).stdout == once
    (before,), (after,) = read_games(record.read_text()), read_games(once)
    assert after.tags == {**before.tags, "Annotator": "retrograde"}
    moves = [word.text for word in before.words if word.kind == MOVE]
    assert moves and moves == [word.text for word in after.words if word.kind == MOVE]
    comments = iter(word.text for word in after.words if word.kind == COMMENT)
    (facts,) = retrograde(*told, record, "--json").stdout.splitlines()
    with open_solution(path) as solution:
        position = solution.game.read(before.tags["FEN"])
        for move, fact in zip(moves, json.loads(facts)["moves"], strict=True):
            found = review(solution, position, solution.game.move(position, move))
            assert (fact["move"], fact["value"], fact["mistake"]) == (move, found.value.name.lower(), found.mistake)
            comment = next(comments)
            assert comment.startswith("draw" if found.value == DRAW else ("White ", "Black "))
            assert (f"; {found.best.name} wins" in comment) == found.mistake
            position = found.played.position
        plain = re.sub(r"\{[^}]*\}|\$4|\d+\.\.\.", " ", once.partition("\n\n")[2]).split()
        assert plain == [word for word in record.read_text().partition("\n\n")[2].split() if "..." not in word]


@pytest.mark.thorough
def test_pdn_of_others_is_read(solved):
    """Black moves first, so that others number his move `1.`; what the database does not have is left as it is."""
    path = solved("draughts:KKvK")
    told = ("annotate", "draughts:KKvK", "--database", path, "-")
    text = """[Event "a"]
[GameType "21"]
[FEN "B:WK31,K32:BK19"]

1. 19-23! {slow} 31-26 2. 23x30 (2. 23-27 $2) 32-27 1-0

[FEN "W:WK31,32:BK19,K1"]

1. 31-26 *

1. 11-15 23-19 *
"""
    done = retrograde(*told, input=text.encode(), status=1)
    first, second, third = read_games(done.stdout)
    assert [word.text for word in first.words if word.kind == MOVE] == ["19-23", "31-26", "23x30", "32-27"]
    assert "\n1. 19-23 !" in done.stdout and "{ slow }" in done.stdout and "1... 31-26" in done.stdout
    assert "game 2: " in done.stderr and "which does not follow from KKvK" in done.stderr
    assert "game 3: it has no tag FEN" in done.stderr
    assert second.source.split() == ["[FEN", '"W:WK31,32:BK19,K1"]', "1.", "31-26", "*"]
    assert third.source.split() == ["1.", "11-15", "23-19", "*"]
    refused = retrograde("annotate", "chess:KRK", "--database", solved("chess:KRK"), "-", input=text, status=1)
    assert "games of chess:KRK are PGN; give the FILE alone" in refused.output


def test_format_md_says_what_is_so():
    game = Draughts("KKvK")
    position = game.read("W:WK31,K32:BK19")
    page = (ROOT / "databases" / "FORMAT.md").read_text(encoding="utf-8")
    said = f"`W:WK31,K32:BK19` is slot {game.index(position):,} of tier {game.tier(position):,}"
    assert said in page


@pytest.mark.parametrize(
    ("text", "complaint"),
    {
        "W:W18": "no position 'W:W18'; it should look like W:W18,K24:B12,K10",
        "W:W18:W12": "no position 'W:W18:W12'; it should look like",
        "W:W33:B12": "there is no square 33 on the board; its squares are 1 to 32",
        "W:W123:B12": "no piece '123' in 'W:W123:B12'; it should look like",
        "W:WX3:B12": "no piece 'X3' in 'W:WX3:B12'; it should look like",
        "W:W12:B12": "there are two pieces on 12; put one",
        "W:W3:B12": "a man stands on 3, where he has been crowned; put K before the number",
        "W:W12:B": "White is to move and Black has no pieces: the game is over; should Black be to move?",
        "W:W1-9:B12": "10 pieces are on the board; endings have 8 at most",
        "W:WK1,K2:BK12": "this is KKvK, which does not follow from MvM; its database is made by: "
        "retrograde solve draughts:KKvK",
    }.items(),
)
def test_texts_that_are_no_positions(text, complaint):
    with pytest.raises(PositionError, match=complaint.replace("?", r"\?")):
        Draughts("MvM" if "KK" in complaint else "3").read(text)


@pytest.mark.parametrize(
    ("variant", "complaint"),
    {
        "KK": "no ending 'KK'; name the kings and men of both sides, as in KKvKM, or say how many pieces",
        "9": "pieces=9; say 2 to 8, leave it out for the whole game, or name them",
        "KKKKKvKKKK": "has 9 pieces; on 8 rows, endings of 8 at most are known",
        "KKKKKKvKKKKK,6": "has 11 pieces; on 6 rows, endings of 10 at most are known",
        "KvK,5": "rows=5; the board must have 4, 6 or 8 rows",
        "MMMMMMMvM,4": "there is no room for MMMMMMMvM on 4 rows",
    }.items(),
)
def test_options_that_there_are_not(variant, complaint):
    assert complaint in retrograde("info", f"draughts:{variant}", status=1).stderr


def test_variants():
    game = load("draughts:MMvMM,4")
    assert game.write(game.start) == "B:W7,8:B1,2"
    assert not hasattr(Draughts("KvK"), "start") and not hasattr(Draughts("MMvMM"), "start")
    assert Draughts("kMvkk").pieces == "KKvKM"
    assert Draughts("KKMvK").variant_title() == "Two kings and man against king"
