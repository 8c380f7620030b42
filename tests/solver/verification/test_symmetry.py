"""Symmetry that is none: the verifier finds it in every kind of database, and so does the sample after a solve."""

import numpy as np
import pytest

from retrograde.databases import DatabaseFile, database_of, open_certificate, open_database, write_certificate
from retrograde.databases.certificates.write import SolvedCertificate
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.tictactoe import TicTacToe
from retrograde.solver import engine
from retrograde.solver.conformance.check import precheck
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered import seeds
from retrograde.solver.methods.streamed import forward_tasks
from retrograde.solver.rules import consistency, expansion
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.certificates import CertificateVerifier, verify_certificate
from retrograde.solver.verification.judge import choose
from retrograde.solver.verification.kernels import choose as choose_compiled
from retrograde.solver.verification.outcomes import OutcomeVerifier
from retrograde.solver.verification.sample import verify_sample
from retrograde.solver.verification.verify import verify
from tests.helpers.ladder import Ladder
from tests.helpers.marks import thorough, thorough_but


@pytest.fixture
def unseen(solver_alone, monkeypatch):
    """Let symmetry that is none come into a database: the solver does not look either."""
    for module in (expansion, seeds, forward_tasks, consistency):
        monkeypatch.setattr(module, "check_image", lambda game, position: None)


class Swapped(TicTacToe):
    """Tic-tac-toe in which the first two cells are taken to be equal, which they are not."""

    def images(self, position):
        for first in (0, 9):
            if (position >> first & 1) != (position >> first + 1 & 1):
                position ^= 3 << first
        yield position


class Turned(TicTacToe):
    """Tic-tac-toe with one turn of the board, and not those that follow from it: what is stored is right, and some
    positions are not found."""

    @property
    def turned(self):
        return (6, 3, 0, 7, 4, 1, 8, 5, 2)

    def images(self, position):
        turned = 0
        for cell in range(9):
            turned |= (position >> self.turned[cell] & 1) << cell | (position >> 9 + self.turned[cell] & 1) << 9 + cell
        yield turned


class Crooked(Ladder):
    """A ladder whose layers are symmetric where they are not."""

    def random(self, position, salt):
        mixed = (position >> 10) * 7919 + (position & 1023) * 104729 + salt * 31 + self.seed
        for _ in range(3):
            mixed = mixed * 1103515245 + 12345 & 0x7FFFFFFF
        return mixed >> 16

    def tier(self, position):
        return position >> 10


class Slots(Game):
    """Count a number down by one or two, by turns; numbers are said to be as good as their opposites, which is so."""

    most: int = 40

    start = 0

    @property
    def tiers(self):
        return (0,)

    def size(self, tier):
        return self.most

    def number(self, position):
        return position >> 1

    def index(self, position):
        return position >> 1

    def unindex(self, tier, i):
        return i << 1

    def images(self, position):
        yield position ^ 1

    def generate_moves(self, position):
        yield 1
        if position >> 1 > 1:
            yield 2

    def do_move(self, position, move):
        return ((position >> 1) - move) * 2 + (move == 2)

    def primitive(self, position):
        return LOSE if position < 2 else UNDECIDED

    def parents(self, position):
        for move in (1, 2):
            if (position >> 1) + move < self.most:
                yield ((position >> 1) + move) * 2


class CrookedSlots(Slots):
    """The same where of two numbers that are said to be equal one is tied."""

    def primitive(self, position):
        return LOSE if position < 2 else TIE if position == 7 else UNDECIDED


class StraySlots(Slots):
    """The same where the slot of a position is that of another one."""

    def index(self, position):
        return (position >> 1) - 1 if position == 7 else position >> 1


class MiscountedSlots(Slots):
    """The same where two slots of one outcome have counts of images that are wrong, but right together."""

    def multiplicity(self, position):
        return 2 + (position == 2) - (position == 4)


class Fours(Game):
    """The same game without slots, where of each number there are four, which are equal."""

    start = 80

    def images(self, position):
        for image in range(4):
            yield position >> 2 << 2 | image

    def generate_moves(self, position):
        yield 1
        if position >> 2 > 1:
            yield 2

    def do_move(self, position, move):
        return (position >> 2) - move << 2

    def primitive(self, position):
        return LOSE if position < 4 else UNDECIDED

    def tier(self, position):
        return 100 - (position >> 2)


UNLOOKED_AT = next(28 + image for image in (1, 2, 3) if image != choose(28, 4))
"""An image of position 28 of `Fours` that is not the one that is chosen."""


class TiedFours(Fours):
    """The same where one number is tied, which is not so of those that are said to be equal to it."""

    def primitive(self, position):
        return LOSE if position < 4 else TIE if position == UNLOOKED_AT else UNDECIDED


def verified(game, path, interpreted):
    with open_database(path, game=game) as database:
        return verify(database, interpreted=interpreted)


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize(
    ("game", "interpreted"),
    [thorough((Swapped(), True)), (Swapped(), False), (Turned(), True)],
    ids=lambda it: type(it).__name__,
)
def test_images_that_are_no_symmetry_are_found(game, interpreted, tmp_path):
    path = solve(game, tmp_path / "game.h5", method="interpreted")
    result = verified(game, path, interpreted)
    assert not result.ok
    assert any("image" in str(problem) for problem in result.problems)


@pytest.mark.thorough
@pytest.mark.usefixtures("unseen")
def test_so_are_those_of_a_database_of_steps(tmp_path, monkeypatch):
    path = solve(Crooked(9, 60), tmp_path / "game.h5", method="compiled", sizes=Sizes(in_memory=1))
    with DatabaseFile(path) as file:
        assert file.contents.DATASET == "steps"
    for interpreted in (True, False):
        result = verified(Crooked(9, 60), path, interpreted)
        assert any("image" in str(problem) for problem in result.problems)
    with pytest.raises(RuleError, match=r"image|not stored"):
        sample(Crooked(9, 60), path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "interpreted"), [(CrookedSlots(), True), (CrookedSlots(), False), (StraySlots(), True)],
    ids=lambda it: type(it).__name__,
)  # fmt: skip
def test_and_those_of_slots(game, interpreted, tmp_path):
    right = solve(Slots(), tmp_path / "right.h5", method="interpreted")
    assert verified(Slots(), right, True).ok
    file = DatabaseFile(right)
    with database_of(file, game) as database:  # as if these rules had made it
        assert not verify(database, interpreted=interpreted).ok


def test_the_image_tried_is_the_same_interpreted_and_compiled():
    for position in [0, 1, 77, 2**40 + 5, 2**62 - 1]:
        assert all(choose(position, count) == choose_compiled(position, count) for count in range(2, 50))
    assert {choose(position, 8) for position in range(200)} == set(range(1, 8))


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("interpreted", [True, False])
def test_multiplicity_is_held_against_images_at_every_slot(interpreted, tmp_path):
    path = solve(MiscountedSlots(), tmp_path / "game.h5", method="compiled")
    told = sorted(str(problem) for problem in verified(MiscountedSlots(), path, interpreted).problems)
    assert told == [
        f"{position} has {count} positions equal by symmetry by multiplicity(), and 2 by images()"
        for position, count in ((2, 3), (4, 1))
    ]


@pytest.mark.parametrize("interpreted", [True, False])
def test_all_images_are_looked_at_where_that_is_asked_for(interpreted, tmp_path, monkeypatch):
    """A database, and a certificate, that are wrong at one image of four only, which is not the one that is chosen."""
    for verifier in (OutcomeVerifier, CertificateVerifier):
        monkeypatch.setattr(verifier, "sample_items", lambda _: ())  # of what is compiled, nothing is asked interpreted
    game = Fours()
    path = solve(game, tmp_path / "game.h5", method="interpreted")
    wins = [(number << 2, number % 3 - 1, 1 + 2 * (number // 3)) for number in range(1, 21) if number % 3]
    with open_database(path, game=game) as database:
        assert all(database[place] == (WIN, plies) for place, _, plies in wins)
    columns = np.array(wins, np.int64).T
    proof = write_certificate(tmp_path / "it.proof.h5", game, SolvedCertificate(game.start, WIN, WIN, 0, *columns))
    for rules in (Fours(), TiedFours()):
        for all_images in (False, True):
            sound, options = rules == game or not all_images, {"interpreted": interpreted, "all_images": all_images}
            with database_of(DatabaseFile(path), rules) as database:
                result = verify(database, **options)
            assert result.ok == sound
            assert ("at every image" in result.proven) == all_images
            with open_certificate(proof, game=game) as certificate:
                certificate.game = rules
                assert verify_certificate(certificate, **options).ok == sound


# The sample after a solve


def sample(game, path):
    with open_database(path, game=game) as database:
        verify_sample(database, seconds=0.3)


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("game", [Swapped(), thorough(Turned())], ids=["swapped", "turned"])
def test_the_sample_finds_them_too(game, tmp_path):
    path = solve(game, tmp_path / "game.h5", method="interpreted")
    with pytest.raises(RuleError, match=r"position \d+: .*(image|not stored)"):
        sample(game, path)
    with pytest.raises(RuleError, match="breaks the contract: images at"):
        precheck(game, seconds=20).require_ok()  # which a busy machine may take to come to it


@pytest.mark.thorough
@pytest.mark.usefixtures("unseen")
def test_rules_that_check_finds_broken_are_blamed_for_what_the_sample_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "verify_sample", verify_sample)
    with pytest.raises(RuleError, match=r"position .*; the rules break the contract: (images|estimate) at"):
        solve(Swapped(), tmp_path / "game.h5", method="interpreted")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "variant",
    thorough_but(
        ["tictactoe", "mutorere", "dodgem", "tentozero:50", "connect4:4,4", "chess:KRK"], "mutorere", "chess:KRK"
    ),
)
def test_the_sample_passes_what_is_right(variant, solved):
    sample(load_game(variant), solved(variant))


def test_the_sample_passes_slots(tmp_path):
    sample(Slots(), solve(Slots(), tmp_path / "slots.h5"))


@pytest.mark.slow
def test_the_sample_passes_steps(tmp_path):
    sample(Ladder(9, 60), solve(Ladder(9, 60), tmp_path / "steps.h5", method="compiled", sizes=Sizes(in_memory=1)))


def test_the_sample_finds_what_does_not_follow_from_the_children(tmp_path):
    class Misled(TicTacToe):
        def primitive(self, position):
            value = super().primitive(position)
            return WIN if value == LOSE else value

    path = solve(TicTacToe(), tmp_path / "game.h5")
    with (
        database_of(DatabaseFile(path), Misled()) as database,
        pytest.raises(RuleError, match=r"is stored as \w+ in \d+, and its children make it|is stored as LOSE in 0"),
    ):
        verify_sample(database)
