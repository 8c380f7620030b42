"""Rules that break the contract in ways that no single answer shows: told while they are solved, and not believed."""

import pytest

from retrograde.games import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import broken, reference
from tests.helpers.solving import outcomes

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("solver_alone")]

BOTH = pytest.mark.parametrize("interpreted", [True, False])


@pytest.fixture(scope="module")
def path(tmp_path_factory, any_file_replaced):
    return tmp_path_factory.mktemp("bad") / "game.h5"


@pytest.fixture
def with_fault(monkeypatch):
    """Make a game in which a fault stands in every position, above so many bits."""

    def make(cls, fault, bits=10):
        monkeypatch.setattr(cls, "start", cls.start + (fault << bits))
        return cls()

    return make


@BOTH
@pytest.mark.parametrize("cls", [broken.Round, broken.DenseRound, broken.Pairs, broken.Mirror, broken.Fractions])
def test_without_the_fault(cls, interpreted, path):
    game = cls()
    solution = reference.solve(game, symmetric=True, starts=range(200) if hasattr(game, "tiers") else None)
    assert (
        outcomes(solve(game, path, method="interpreted" if interpreted else "compiled", fresh=True), game) == solution
    )


PARENTS = {
    1: r"parents\(\) does not yield \d+, from which a move leads here",
    2: r"position \d+: parents\(\) yields \d+, from which no move leads here",
    3: r"parents\(\) does not yield \d+, from which a move leads here",
    4: r"position 4127: parents\(\) does not yield 4125, from which a move leads here",
    5: r"position 5260: parents\(\) yields 5240, from which no move leads here",
}


@BOTH
@pytest.mark.parametrize("cls", [broken.Round, broken.DenseRound])
@pytest.mark.parametrize("fault", PARENTS)
def test_parents_that_are_not_those_of_the_moves(cls, fault, interpreted, path, with_fault):
    with pytest.raises(RuleError, match=PARENTS[fault]):
        solve(with_fault(cls, fault), path, method="interpreted" if interpreted else "compiled", fresh=True)


SYMMETRY = {
    1: r"images\(\) yields \d+, from which moves lead elsewhere",
    2: r"images\(\) yields \d+, which is \w+, and this is \w+",
    3: r"images\(\) yields \d+, instead of which the solver would store \d+|lead elsewhere",
    4: r"generate_moves\(\) gives -2; moves are numbers from 0 on",
}


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["interpreted", "in memory", "in a stream"])
@pytest.mark.parametrize("fault", SYMMETRY)
def test_images_that_are_no_symmetry_deep_in_the_game(fault, way, path, with_fault):
    sizes = Sizes(in_memory=4 if way == "in a stream" else 10**9)
    game = with_fault(broken.Mirror, fault, 15)
    with pytest.raises(RuleError, match=SYMMETRY[fault]):
        solve(game, path, method="interpreted" if way == "interpreted" else "compiled", fresh=True, sizes=sizes)


NUMBERING = {
    1: r"index\(\d+\) gives \d+, and \d+ for \d+, which is the same by symmetry",
    2: r"unindex\(2, 9\d\) gives it, and its slot is 89",
    3: r"unindex\(\).*is wrong|must give the canonical position",
}


@BOTH
@pytest.mark.parametrize("fault", NUMBERING)
def test_numberings_that_are_not_one_to_one(fault, interpreted, path, with_fault):
    with pytest.raises(RuleError, match=NUMBERING[fault]):
        solve(with_fault(broken.Pairs, fault), path, method="interpreted" if interpreted else "compiled", fresh=True)


FRACTIONS = {
    1: r"generate_moves\(\) gives 1\.5, which is no int",
    2: r"gives \d+\.0, which is no int",
    3: r"tier\(\d+\) gives \d+\.\d+, which is no int",
    4: r"gives \d+\.0, which is no int",
    5: r"index\(\) gives \d+\.0",
    6: r"unindex\(0, 0\) gives 0\.0, which is no int",
    7: r"parents\(\) gives \d+\.0, which is no int",
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FRACTIONS)
def test_numbers_that_are_no_ints(fault, path):
    game = broken.Fractions(fault) if fault < 5 else broken.FractionsNumbered(fault)
    with pytest.raises(RuleError, match=FRACTIONS[fault]):
        solve(game, path, method="interpreted")
    # A quick check finds it before anything is compiled.
    with pytest.raises(RuleError, match=FRACTIONS[fault] if fault in (3, 4) else r"gives .*; it must give an int"):
        solve(game, path, method="compiled", fresh=True)


def test_rules_that_remember(path):
    broken.SEEN.clear()
    with pytest.raises(RuleError, match="position 30: the rules say one thing, and another when asked again"):
        solve(broken.Remembering(), path, method="interpreted")


def test_a_broken_game_leaves_no_database(tmp_path, with_fault):
    game = with_fault(broken.Round, 4)
    for interpreted in (True, False):
        with pytest.raises(RuleError):
            solve(game, tmp_path / "game.h5", method="interpreted" if interpreted else "compiled")
    assert not (tmp_path / "game.h5").exists()
