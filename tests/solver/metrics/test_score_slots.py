"""Scores by slot: kills, full stacks, wrong parents, and what the verifier makes of wrong scores."""

import pytest

from retrograde.databases import open_database
from retrograde.games import UNDECIDED, WIN, RuleError
from retrograde.games.awariboards import AwariBoards
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import Game
from retrograde.games.kalahboards import KalahBoards
from retrograde.solver.engine import solve
from retrograde.solver.metrics.slots import scores
from retrograde.solver.metrics.slots.scores import ScoreStore
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.scores import ScoresVerifier
from retrograde.solver.verification.verify import verify

pytestmark = pytest.mark.long


class Pairs(Game):
    """Two rings of two positions each, from which nobody need go. In the second ring, the end pays 5.

    Positions: ring, then 0 or 1, or 2 for the end.
    """

    metric = "score"
    start = 3
    tiers = (0, 1)
    prize: int = 5

    def size(self, tier):
        return 4 if tier == 0 else 1

    def index(self, position):
        return 0 if position == 4 else position

    def unindex(self, tier, slot):
        return 4 if tier else slot

    def tier(self, position):
        return position // 4

    def generate_moves(self, position):
        yield 0
        if position == 3:
            yield 1

    def do_move(self, position, move):
        return 4 if move else position ^ 1

    def reward(self, position, move, player):
        return 0

    def parents(self, position):
        if position < 4:
            yield position ^ 1

    def primitive(self, position):
        return WIN if position == 4 else UNDECIDED

    def payoff(self, position, player):
        return 0 if player == 0 else self.prize


def scores_of(game, path, **options):
    """Return the score of each position of a game, and its database."""
    with open_database(solve(game, path, **options), game=game) as database:
        return {
            position: database.measures(position)["score"]
            for _, positions, _, _ in database.records()
            for position in positions.tolist()
        }


def test_players_who_need_not_go_on_get_nothing_and_those_who_can_take_it(tmp_path):
    """In the second ring, one moves to the end, and the other one cannot help going there first."""
    game = Pairs()
    assert scores_of(game, tmp_path / "pairs.h5") == {0: 0, 1: 0, 2: -5, 3: 5, 4: -5}


def test_scores_that_only_support_each_other_are_found_out(tmp_path):
    game = Pairs()
    with open_database(solve(game, tmp_path / "pairs.h5"), game=game) as database:
        assert verify(database).ok
        verifier = ScoresVerifier(database)
        five, minus = (verifier.scores.tolist().index(score) for score in (5, -5))
        verifier.row_numbers[0], verifier.row_numbers[1] = five, minus  # each follows from the other one
        found = verifier.verify(1, None, None)
    assert [problem.position for problem in found.problems][:2] == [0, 1]
    assert "is not worth what follows" in found.problems[0].complaint


@pytest.mark.parametrize("variant", ["awariboards:2,5", "kalahboards:2,4"])
def test_each_wrong_score_is_found_out(variant, solved):
    game = load_game(variant)
    with open_database(solved(variant), game=game) as database:
        for slot in range(0, database.file.contents.slots, 7):
            verifier = ScoresVerifier(database)
            verifier.row_numbers[slot] = (verifier.row_numbers[slot] + 1) % len(verifier.legend)
            assert not verifier.verify(1, None, None).ok, slot


def test_lists_say_the_same_of_what_play_reaches(tmp_path):
    """Also in tier -1, whose number the exploration once took for none."""
    game = KalahBoards(3, 5)
    by_slot = scores_of(game, tmp_path / "slots.h5")
    listed = scores_of(game, tmp_path / "lists.h5", method="listed")
    assert len(listed) > 25
    assert {position & (1 << game.turn_bit) - 1: score for position, score in listed.items()}.items() <= by_slot.items()


@pytest.mark.parametrize("stack", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_a_stack_that_is_full_changes_nothing(stack, tmp_path, monkeypatch):
    game = AwariBoards(3, 6)
    before = scores_of(game, tmp_path / "before.h5")
    monkeypatch.setattr(scores, "STACK", stack)
    assert scores_of(game, tmp_path / "after.h5") == before


def test_steps_and_chunks_change_nothing(tmp_path, monkeypatch):
    game = KalahBoards(3, 6)
    before = scores_of(game, tmp_path / "before.h5")
    monkeypatch.setattr(scores, "CHUNK", 10)
    assert scores_of(game, tmp_path / "after.h5") == before
    assert (tmp_path / "before.h5").read_bytes() == (tmp_path / "after.h5").read_bytes()


def test_a_solve_that_was_killed_goes_on_from_its_tiers(tmp_path, monkeypatch):
    game, solved_tiers, path = AwariBoards(3, 6), [], tmp_path / "boards.h5"
    before = scores_of(game, tmp_path / "before.h5")
    solve_tier = ScoreStore.solve

    def killed(store, k, phase):
        if k not in store.counts:
            solved_tiers.append(k)
            if len(solved_tiers) == 5:
                raise KeyboardInterrupt
        yield from solve_tier(store, k, phase)

    monkeypatch.setattr(ScoreStore, "solve", killed)
    with pytest.raises(KeyboardInterrupt):
        solve(game, path, sizes=Sizes(journal_seconds=0))
    assert scores_of(game, path) == before
    assert solved_tiers == [6, 5, 4, 3, 2, 2, 1, 0]


class LackingParents(AwariBoards):
    """Its parents lack those whose first pit is empty."""

    name = "lackingparents"

    def parents(self, position):
        for parent in super().parents(position):
            if parent & 31:
                yield parent


def test_wrong_parents_are_refused(tmp_path):
    with pytest.raises(RuleError, match=r"parents"):
        solve(LackingParents(3, 6), tmp_path / "boards.h5")


def test_a_game_that_does_not_fit_is_solved_in_lists(tmp_path):
    """Its scores take more than a byte. The lists have what play reaches."""
    assert scores_of(Pairs(prize=500), tmp_path / "pairs.h5") == {2: -500, 3: 500, 4: -500}
