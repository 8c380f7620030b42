"""Tiers of chess solved set by set, against the same solved slot by slot, by the rules: the same bytes.

That the values are right is what test_chess_endings.py says, against tables of others.
"""

from functools import partial
from random import Random

import numpy as np
import pytest

from retrograde.databases.file import DatabaseFile
from retrograde.games import RuleError
from retrograde.games.chess import Chess
from retrograde.games.chess.men import BLACK, KING, PAWN, QUEEN, TIERS, codes_of, tier_of
from retrograde.games.chess.squares import image_of_square
from retrograde.solver.engine import solve
from retrograde.solver.methods.chess import analysis, en_passant_kernels, fit, kernels, tiers, words
from retrograde.solver.methods.chess.en_passant import EnPassantPositions, double_steps, slots_of
from retrograde.solver.methods.chess.formation import Formation, arrangement, departures, geometry
from retrograde.solver.methods.chess.slots import legal_positions
from retrograde.solver.methods.numbered import method, store
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import MetricNotApplicable
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop

pytestmark = pytest.mark.long


class Rebuilt(Chess):
    """Chess, as far as anybody knows."""


FOUR_MEN = [name for name in reversed(TIERS) if len(name) < 5]

# Words


def plainly(word):
    """Return the squares of a word."""
    return {square for square in range(64) if int(word) >> square & 1}


def as_word(squares):
    return np.uint64(sum(1 << square for square in squares))


@pytest.mark.parametrize("kind", range(QUEEN, KING + 1))
@pytest.mark.parametrize("side", [0, 1])
def test_men_are_carried_along_as_the_rules_move_them(kind, side):
    chess, dice, code = Chess("KRK"), Random(kind), kind + BLACK * side
    for _ in range(60):
        occupied = set(dice.sample(range(64), dice.randrange(12)))
        men = set(dice.sample(range(8, 56), dice.randrange(1, 5))) - occupied
        blocked, free = sum(1 << square for square in occupied), ~as_word(occupied)
        attackers = {
            man for man in range(64) for square in men
            if chess.reaches[man << 6 | square] >> code & 1 and not chess.between[man << 6 | square] & blocked
        }  # fmt: skip
        assert plainly(words.attackers(as_word(men), free, kind, side)) == attackers
        if kind == PAWN:
            steps = chess.pawn_targets
            origins = {man for man in range(8, 56) if plainly(steps(0, code, man, blocked, blocked)) & men}
        else:
            origins = {man for man in range(64) if plainly(chess.open_squares(kind, man, blocked, 0)) & men}
        found = plainly(words.origins(as_word(men), free, kind, side))
        assert (found & {*range(8, 56)} if kind == PAWN else found) - occupied == origins - occupied


def test_words_are_turned_as_squares_are():
    dice = Random(0)
    for symmetry in range(8):
        squares = set(dice.sample(range(64), 20))
        assert plainly(words.turn_word(as_word(squares), symmetry)) == {image_of_square(s, symmetry) for s in squares}
    assert [words.lowest(as_word({square, 63})) for square in range(64)] == list(range(64))


# Positions


@pytest.mark.parametrize(
    "name",
    thorough_but(["KRK", "KPK", "KRKN", "KBBK", "KPPK", "KQKQ", "KRPKR", "KNNNK", "KBPPK"], "KPK", "KBBK", "KPPK"),
)
def test_slots_lie_where_their_men_stand(name):
    """By the numbering of chess, at some slots; those with both kings on the diagonal among them."""
    chess, formation, tier = Chess(name), Formation(name), tier_of(name)
    places, kept = arrangement(formation.codes)
    assert formation.pairs == chess.pairs_of_kings(tier)
    assert formation.pairs * len(places) * (2 - formation.is_symmetric) == chess.plain_size(tier) == chess.size(tier)
    dice, own = Random(name), 0
    for _ in range(3000):
        pair, spot = dice.randrange(formation.pairs), dice.randrange(len(places))
        position = chess.placed(tier, pair * len(places) + spot)
        white, black = formation.men.squares[pair]
        assert (position >> 40 & 63, position >> 34 & 63) == (white, black)
        squares = [position >> 24 - 10 * man & 63 for man in range(len(formation.codes))]
        assert places[spot] == sum(square << 6 * man for man, square in enumerate(reversed(squares)))
        if not chess.possible(position):
            continue
        diagonal = int(geometry().kings[4096 * formation.has_pawns + (int(white) << 6 | int(black))]) & 8
        assert (chess.unindex(tier, pair * len(places) + spot) >= 0) == (not diagonal or kept[spot] > 0)
        images = 4 if formation.has_pawns else 8 if diagonal and kept[spot] == 2 else 16
        own += images == 8
        assert len(set(chess.images(position))) == images
    assert own or formation.has_pawns or len(name) > 3


@pytest.mark.parametrize("name", ["KPKP", "KRPKP", "KPPKP"])
def test_what_may_be_captured_en_passant_has_the_slots_that_chess_gives(name):
    """From positions that chess has there to the bits of sets, and back."""
    chess, formation, tier, dice = Chess(name), Formation(name), tier_of(name), Random(name)
    plain, found = chess.plain_size(tier), 0
    numbers = geometry().kings[4096:]
    while found < 300:
        slot = dice.randrange(plain, chess.size(tier))
        position = chess.unindex(tier, slot)
        if position < 0:
            continue
        found += 1
        turn, file = position >> 46 & 1, (position & 15) - 1
        entry = int(numbers[position >> 34 & 4095])
        squares = [image_of_square(position >> 24 - 10 * man & 63, entry & 7) for man in range(len(formation.codes))]
        pushed = image_of_square(32 - 8 * turn + file, entry & 7)
        (man,) = (
            man
            for man, (code, square) in enumerate(zip(formation.codes, squares, strict=True))
            if code == PAWN + 8 * (1 - turn) and square == pushed
        )
        spot = entry >> 4
        for square in squares:
            spot = spot << 6 | square
        assert plain + slots_of(formation, man, np.array([spot])).tolist()[0] == slot


@pytest.mark.parametrize("name", thorough_but(["KRPK", "KPPK"], "KPPK"))
def test_sets_are_carried_along_as_the_rules_move_positions(name):
    """Both ways, with a pawn on its first square and a man before it more often than not, who may be the last one."""
    chess, formation, tier, dice = Chess(name), Formation(name), tier_of(name), Random(name)
    men, numbers, count = formation.men, geometry().kings[4096:], len(formation.codes)

    def spots(position):
        """Return the numbers of the bits of a position in sets: more than one where men are alike."""
        entry = int(numbers[position >> 34 & 4095])
        squares = [image_of_square(position >> 24 - 10 * man & 63, entry & 7) for man in range(count)]
        ways = {tuple(squares), tuple(reversed(squares))} if len(set(formation.codes)) == 1 else {tuple(squares)}
        return [((entry >> 4) * 64 + first) * 64 + last for first, last in ways]

    parents, reached, brought, blocked = [], set(), {}, 0
    while len(parents) < 600:
        position = chess.unindex(tier, dice.randrange(chess.plain_size(tier) // 2))
        if position < 0 or chess.primitive(position) or (len(parents) < 400 and not jumped(position, formation)):
            continue
        over = [chess.canonical(one) for one in jumped(position, formation)]
        blocked += len(over)
        children = [chess.do_move(position, move) for move in chess.generate_moves(position)]
        children = [chess.canonical(child) for child in children if chess.tier(child) == tier]
        parents.append(position)
        brought[position] = children
        reached |= {child for child in children if dice.random() < 0.03}
        reached |= {one for one in over if chess.unindex(tier, chess.index(one)) == one}
    assert blocked >= 400
    words_there, candidates = np.zeros((2, formation.words), np.uint64)
    for spot in (spot for child in reached for spot in spots(child)):
        words_there[spot >> 6] |= np.uint64(1 << (spot & 63))
    nothing = EnPassantPositions(formation).capturable
    kernels.add_predecessors(men, geometry(), 0, nothing, words_there, candidates)
    closed = legal_positions(men, 0)
    kernels.remove_escapes(men, geometry(), 0, nothing, words_there, closed)
    leading = {position for position in parents if not reached.isdisjoint(brought[position])}
    assert 100 < len(leading) < 500
    for position in parents:
        for spot in spots(position):
            assert (int(candidates[spot >> 6]) >> (spot & 63) & 1) == (position in leading)
            assert (int(closed[spot >> 6]) >> (spot & 63) & 1) == (position not in leading)


def jumped(position, formation):
    """Return where steps of two squares over a man would lead, by white pawns on their first squares."""
    shifts = [24 - 10 * man for man, code in enumerate(formation.codes) if code == PAWN]
    others = {position >> shift & 63 for shift in (24, 14, 34, 40)}
    pawns = [(shift, position >> shift & 63) for shift in shifts]
    fits = [shift for shift, pawn in pawns if pawn < 16 and pawn + 8 in others and pawn + 16 not in others]
    return [position + (16 << shift) ^ 1 << 46 for shift in fits]


def test_departures_are_captures_and_promotions():
    found = {}
    for captured, change, order, left, turn in departures(codes_of(["RP", "N"])):
        found[captured, change] = left, turn
        assert [*order] == sorted({0, 1, 2} - {captured}) or change
    rook, pawn, knight = codes_of(["RP", "N"])
    changed = [(4 * 1 + kind + 1, kind) for kind in range(4)]
    assert found == {
        (0, 0): ((pawn, knight), 0),
        (1, 0): ((rook, knight), 0),
        (2, 0): ((rook, pawn), 1),
        **{(-1, change): ((*sorted((rook, kind)), knight), 1) for change, kind in changed},
        **{(2, change): (tuple(sorted((rook, kind))), 1) for change, kind in changed},
    }
    like = [each for each in departures(codes_of(["PP", ""])) if each.change % 4 == QUEEN + 1]
    assert [(each.order, each.remaining) for each in like] == [((0, 1), (QUEEN, PAWN)), ((1, 0), (QUEEN, PAWN))]


# Whole solves


def same_both_ways(name, folder, fresh=True):
    """Tell whether an ending solved in both ways makes the same bytes."""
    slots = solve(Chess(name), folder / "slots" / f"chess,{name}.h5", method="numbered", fresh=fresh)
    return solve(Chess(name), folder / "sets" / f"chess,{name}.h5", method="setwise", fresh=fresh).read_bytes() == (
        slots.read_bytes()
    )


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """Return a folder for databases that others are made from: each tier is solved once in each way."""
    return tmp_path_factory.mktemp("endings")


@pytest.fixture
def by_sets(monkeypatch):
    """Return the list of tiers that are solved set by set, by their names, as they are solved."""
    found, solve_by_sets = [], store.solve_by_sets

    def noted(table, k, *rest):
        done = solve_by_sets(table, k, *rest)
        found.extend([TIERS[int(table.numbering.tiers[k])]] if done else [])
        return done

    monkeypatch.setattr(store, "solve_by_sets", noted)
    return found


@pytest.mark.thorough
def test_same_bytes_with_two_and_three_men(tmp_path, by_sets):
    assert same_both_ways("KQK", tmp_path)
    assert by_sets == ["KK", "KQK"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUR_MEN)
def test_same_bytes(beside, by_sets, monkeypatch, name):
    monkeypatch.setattr(method, "home_folder", lambda: beside / "nothing")  # where one way would take from the other
    assert same_both_ways(name, beside, fresh=False)
    assert by_sets[-1] == name


# Where it is not the way


def test_only_chess_by_its_own_rules_is_solved_so():
    assert fit.is_chess(Chess("KRK")) and not fit.is_chess(Rebuilt("KRK"))
    assert fit.formation_of(Rebuilt("KRK"), tier_of("KRK")) is None
    assert fit.formation_of(Chess("KRK"), tier_of("KRK"), 30) is None
    assert fit.formation_of(Chess("KRK"), tier_of("KRPK")).name == "KRPK"


def test_a_mate_may_take_as_many_plies_as_there_are_codes(tmp_path, by_sets, monkeypatch):
    """Of KRK the longest takes 32 plies."""
    whole = solve(Chess("KRK"), tmp_path / "game.h5", fresh=True).read_bytes()
    for most in (33, 32):
        by_sets.clear()
        monkeypatch.setattr(analysis, "DEEPEST", most)
        assert solve(Chess("KRK"), tmp_path / f"{most}.h5", fresh=True).read_bytes() == whole
        assert by_sets == ["KRK"]
    monkeypatch.setattr(analysis, "DEEPEST", 31)
    with pytest.raises(MetricNotApplicable, match="its mates take too many plies"):
        solve(Chess("KRK"), tmp_path / "31.h5", fresh=True)


def test_goes_on_after_a_stop_with_scores_in_a_file_and_in_memory(tmp_path, by_sets):
    whole = solve(Chess("KRK"), tmp_path / "whole.h5", fresh=True, workers=2).read_bytes()
    by_sets.clear()

    def stop_when_writing(progress):
        if progress.phase == "writing":
            raise Stop

    for in_file in (False, True):
        sizes = partial(Sizes, journal_seconds=0, scores_in_scratch=in_file)
        with pytest.raises(Stop):
            solve(Chess("KRK"), tmp_path / "game.h5", fresh=True, sizes=sizes(), listener=stop_when_writing)
        assert by_sets == ["KRK"]
        by_sets.clear()
        assert solve(Chess("KRK"), tmp_path / "game.h5", sizes=sizes()).read_bytes() == whole
        assert by_sets == []
        assert not DatabaseFile(tmp_path / "game.h5").path.with_name("game.h5.journal").exists()
        (tmp_path / "game.h5").unlink()


def test_no_more_is_told_than_there_is(tmp_path, monkeypatch):
    """Like men are told apart in sets, and not in what is told."""
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    events = []
    solve(Chess("KBBK"), tmp_path / "game.h5", fresh=True, listener=events.append)
    told = [event.deciding for event in events if event.deciding]
    assert len(told) > 10 and all(0 <= deciding.decided <= deciding.total for deciding in told)
    assert max(deciding.remoteness for deciding in told) == 38
    assert all(event.done <= event.total for event in events if event.total)


def test_a_wrong_score_is_seen(tmp_path, monkeypatch):
    """Some slots are held against the rules whenever a tier is solved."""
    collect = tiers.collect_scores

    def wrong(formation, known, scores, pawns, table):
        counts = collect(formation, known, scores, pawns, table)
        scores[scores == 0] += 2
        scores[len(scores) // 5 :] ^= 3
        return counts

    monkeypatch.setattr(tiers, "collect_scores", wrong)
    with pytest.raises(RuleError):
        solve(Chess("KRK"), tmp_path / "game.h5", fresh=True)


def test_only_a_winning_capture_en_passant_wins():
    """Codes are one more than the plies: 2 wins in 1, and 3 loses."""
    items = double_steps(2)
    items.positions[:], items.parents[:], items.codes[:] = (0, 1), (5, 6), (2, 3)
    nothing, open_, parents = np.zeros(1, np.uint64), np.full(1, 3, np.uint64), np.zeros(1, np.uint64)
    assert en_passant_kernels.decide_wins(items, 3, nothing, open_, parents) == 0
    assert en_passant_kernels.decide_wins(items, 2, nothing, open_, parents) == 1
    assert items.values.tolist() == [2, 0] and (open_[0], parents[0]) == (2, 1 << 5)
