"""Certificates: made for small games and random ones, checked by two checkers, compared to the truth, and forged."""

import json
import re
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from time import monotonic

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retrograde.cli.commands.prove import open_proof_journal
from retrograde.cli.failure import Failure
from retrograde.databases import (
    CertificateFile,
    DamagedDatabase,
    DatabaseFile,
    IsCertificate,
    NotADatabase,
    certificate_path,
    list_certificates,
    list_databases,
    open_certificate,
    write_certificate,
)
from retrograde.databases.book import find_book
from retrograde.databases.certificates.read import ReplyBlock
from retrograde.databases.certificates.write import SolvedCertificate
from retrograde.databases.errors import CannotWrite
from retrograde.databases.location import book_path
from retrograde.games import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import BUILT_IN, load_game, variant
from retrograde.games.contract.game import CHANCE, alternates, value_to_mover
from retrograde.solver.play.oracles.certified import CertifiedOracle
from retrograde.solver.play.oracles.open import searching_oracle
from retrograde.solver.rules.examine import NotForSearch, not_for_proofs
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.search.certificates import prover
from retrograde.solver.search.certificates.prover import (
    CertificateProver,
    NothingToProve,
    NotProved,
    ProofGoal,
    ProofTimeout,
)
from retrograde.solver.verification.certificates import verify_certificate
from tests.helpers import reference, tangle, turning
from tests.helpers.command_line import retrograde
from tests.helpers.flipping import flips_noticed
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough_but
from tests.helpers.playing_out import problems
from tests.helpers.reference import solve
from tests.helpers.solving import graphs

pytestmark = pytest.mark.long

SMALL = 1 << 22
GAMES = [
    *("tictactoe", "mutorere"),
    *(
        pytest.param(text, marks=pytest.mark.slow)
        for text in ("tictactoe:3,true", "connect4:3,3,3", "connect4:4,3,3", "dodgem", "tentozero")
    ),
]


@cache
def truth_of(text):
    return solve(load_game(text), symmetric=True)


@cache
def proof_of(text, leaves, position=None):
    """Return a certificate of a position, by default the start, not yet in a file."""
    game = load_game(text)
    position = game.start if position is None else position
    return CertificateProver(game, position, ProofGoal(leaves=leaves), 1, SMALL).prove()


def opened(folder, game, solved):
    """Return a certificate, written and opened."""
    return open_certificate(write_certificate(folder / "one.proof.h5", game, solved), game=game)


@contextmanager
def forged(game, solved):
    """Give a certificate that says something else than the file that it was opened from, without a file of its own."""
    with open_certificate(honest(game), game=game) as certificate:
        certificate.content = ReplyBlock(solved.positions, solved.replies, solved.bounds)
        for name in ("root", "at_least", "at_most", "leaves"):
            setattr(certificate.file, name, getattr(solved, name))
        certificate.goal = certificate.file.goal
        yield certificate


@cache
def honest(game):
    """Return the path of a certificate of a game."""
    return write_certificate(Path(mkdtemp()) / "one.proof.h5", game, proof_of(variant(game), 1))


def faults(certificate):
    """Return how many faults both checkers find, the first one interpreted and compiled."""
    interpreted = verify_certificate(certificate, 1, interpreted=True)
    compiled = verify_certificate(certificate, 1, interpreted=False)
    assert interpreted.ok == compiled.ok, (interpreted.problems, compiled.problems)
    return interpreted.wrong, len(problems(certificate.game, certificate))


def agree(certificate):
    """Return whether all checkers find a certificate right, which they must agree on."""
    ours, slow = faults(certificate)
    assert (ours == 0) == (slow == 0), (ours, slow)
    return ours == 0


# Proofs


@pytest.mark.parametrize("leaves", [0, 1, 3])
@pytest.mark.parametrize("text", GAMES)
def test_small_games_are_proved_and_all_that_is_claimed_is_true(text, leaves, tmp_path):
    game, truth, solved = load_game(text), truth_of(text), proof_of(text, leaves)
    value = truth[game.canonical(game.start)][0]
    wanted = (value, value) if value in (WIN, LOSE) or text.startswith(("tic", "connect4")) else (DRAW, TIE)
    assert (solved.at_least, solved.at_most) == wanted
    with opened(tmp_path, game, solved) as certificate:
        assert agree(certificate)
        bounds = [None] * len(solved.positions) if solved.bounds is None else solved.bounds.tolist()
        for position, bound in zip(solved.positions.tolist(), bounds, strict=True):
            assert truth[position][0] >= certificate.goal
            assert bound is None or bound >= truth[position][1]


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,3,3", "dodgem"])
def test_any_position_can_be_proved(text, tmp_path):
    game, truth = load_game(text), truth_of(text)
    undecided = [position for position in sorted(truth) if game.primitive(position) == UNDECIDED]
    for position in Random(3).sample(undecided, 15):
        try:
            solved = proof_of(text, 1, position)
        except NothingToProve:  # every move ends the game, so that there is no position to reply in
            continue
        assert solved.at_least <= truth[position][0] <= solved.at_most
        with opened(tmp_path, game, solved) as certificate:
            assert agree(certificate)


@pytest.mark.thorough
@given(graphs, st.sampled_from([0, 1, 3]))
@example(137438887040, 3)  # a win in two plies, by an end that is one for who is to move, where a bound leaves just two
@settings(max_examples=30)
def test_random_games_are_proved_right(tmp_path_factory, start, leaves):
    """With cycles, ties and draws."""
    game = tangle.Tangle()
    truth = solve(game, starts=[start])
    for position, (value, _) in sorted(truth.items())[:8]:
        try:
            solved = CertificateProver(game, position, ProofGoal(leaves=leaves), 1, SMALL).prove()
        except NothingToProve:
            continue
        assert solved.at_least <= value <= solved.at_most
        assert (value in (WIN, LOSE)) == (solved.at_least == solved.at_most != TIE)
        with opened(tmp_path_factory.mktemp("proof"), game, solved) as certificate:
            assert agree(certificate)


def test_less_is_stored_where_plain_play_decides_more():
    counts = [len(proof_of("connect4:4,4", leaves).positions) for leaves in (0, 1, 3, 5, 7)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 5 * counts[-1]


def test_one_side_takes_less_than_both(tmp_path):
    game = load_game("connect4:4,4")
    solved = CertificateProver(game, game.start, ProofGoal(TIE, at_least=True, leaves=1), 1, SMALL).prove()
    assert (solved.at_least, solved.at_most) == (TIE, WIN)
    assert len(solved.positions) < len(proof_of("connect4:4,4", 1).positions)
    with opened(tmp_path, game, solved) as certificate:
        assert agree(certificate)


@pytest.mark.thorough
def test_what_is_not_so_is_not_proved():
    game = load_game("connect4:4,4")
    for value in (WIN, LOSE):
        with pytest.raises(NotProved, match=r"is not a (win|loss); leave out --value"):
            CertificateProver(game, game.start, ProofGoal(value), 1, SMALL).prove()
    dodgem = load_game("dodgem")
    position = dodgem.do_move(dodgem.start, next(dodgem.generate_moves(dodgem.start)))
    with pytest.raises(NotProved, match="is not a draw"):
        CertificateProver(dodgem, position, ProofGoal(DRAW)).prove()


def test_memory_is_bounded():
    game = load_game("connect4:4,4")
    with pytest.raises(MemoryLimit, match="needs more than 31 positions; give more --memory"):
        CertificateProver(game, game.start, ProofGoal(leaves=1, memory=10_000), 1, SMALL).prove()


# Files


def test_what_is_written_is_read(tmp_path):
    for text in ("connect4:4,4", "dodgem"):
        game, solved = load_game(text), proof_of(text, 1)
        path = write_certificate(certificate_path(variant(game), home=tmp_path), game, solved)
        with CertificateFile(path) as file:
            content = file.contents.all()
            assert (file.root, file.at_least, file.at_most, file.leaves) == (
                game.start, solved.at_least, solved.at_most, 1,
            )  # fmt: skip
            file.check()
        assert (content.positions == solved.positions).all() and (content.replies == solved.replies).all()
        assert content.bounds is None if solved.bounds is None else (content.bounds == solved.bounds).all()
        with pytest.raises(IsCertificate, match="is a certificate, and no database"):
            DatabaseFile(path)
    assert len(list_certificates(tmp_path)) == 2
    assert list_databases(tmp_path) == []


@pytest.mark.parametrize("count", [1, 2, 65535, 65536, 65537, 150_000])
def test_blocks_of_any_length_are_read_as_written(tmp_path, count):
    game = load_game("connect4")
    positions = np.unique(np.random.default_rng(count).integers(0, 1 << 61, count, dtype=np.int64))
    solved = replace(
        proof_of("tictactoe", 1),
        positions=positions,
        replies=positions % 7,
        bounds=None if count % 2 else positions % 999,
    )
    with CertificateFile(write_certificate(tmp_path / "a.proof.h5", game, solved)) as file:
        content = file.contents.all()
        assert (content.positions == positions).all() and (content.replies == solved.replies).all()
        assert content.bounds is None if count % 2 else (content.bounds == solved.bounds).all()
        file.check()


def test_a_database_is_no_certificate(solved):
    with pytest.raises(NotADatabase, match="and no certificate"):
        CertificateFile(solved("tictactoe"))


def test_flipped_bits_are_noticed(tmp_path):
    game, solved = load_game("dodgem"), proof_of("dodgem", 1)
    path = write_certificate(tmp_path / "one.proof.h5", game, solved)
    assert flips_noticed(path, game, solved, 150) > 50


# Forged ones, whose checksums are as they should be


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tictactoe", "dodgem", "mutorere"])
def test_another_reply_is_wrong_unless_it_is_as_good(text):
    game, solved = load_game(text), proof_of(text, 1)
    verdicts = []
    for place, position in enumerate(solved.positions.tolist()):
        for number in range(len(list(game.generate_moves(position))) + 1):
            replies = solved.replies.copy()
            if replies[place] != number:
                replies[place] = number
                with forged(game, replace(solved, replies=replies)) as certificate:
                    report = verify_certificate(certificate, interpreted=True)
                    if number == len(list(game.generate_moves(position))):
                        assert "which is its reply" in str(report.problems[0])
                    elif solved.bounds is None:
                        assert report.ok == (not problems(game, certificate))
                    else:
                        assert not report.ok or not problems(game, certificate)
                    verdicts.append(report.ok)
        if len(verdicts) > 60:
            break
    assert verdicts.count(False) > 20


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,3,3", "dodgem", "mutorere"])
def test_a_missing_position_is_noticed(text):
    game, solved = load_game(text), proof_of(text, 1)
    for place in Random(1).sample(range(len(solved.positions)), min(8, len(solved.positions))):
        rest = {"positions": np.delete(solved.positions, place), "replies": np.delete(solved.replies, place)}
        bounds = None if solved.bounds is None else np.delete(solved.bounds, place)
        with forged(game, replace(solved, **rest, bounds=bounds)) as certificate:
            assert not agree(certificate)


def test_bounds_that_do_not_fall_are_noticed():
    """All alike, as in a circle; one less than it is; one greater than that of the position before."""
    game, solved = load_game("dodgem"), proof_of("dodgem", 1)
    wrong = [np.full_like(solved.bounds, 9), solved.bounds * 0, solved.bounds // 2]
    for place in range(0, len(solved.bounds), 15):
        less = solved.bounds.copy()
        less[place] -= 1 if less[place] > 3 else 2
        wrong.append(less)
    for bounds in wrong:
        with forged(game, replace(solved, bounds=bounds)) as certificate:
            report = verify_certificate(certificate, interpreted=True)
            assert not report.ok
            assert not verify_certificate(certificate, interpreted=False).ok
    with forged(game, replace(solved, bounds=wrong[0])) as certificate:
        told = " ".join(map(str, verify_certificate(certificate, interpreted=True).problems))
        assert "its bound is 9, and 7 plies are left" in told


def test_a_circle_without_bounds_is_no_win():
    """That of a draw goes round in circles; it proves no tie, no win, and not that the other side loses."""
    game, solved = load_game("mutorere"), proof_of("mutorere", 1)
    for claim in ((WIN, WIN), (LOSE, LOSE), (TIE, TIE), (TIE, WIN)):
        with forged(game, replace(solved, at_least=claim[0], at_most=claim[1])) as certificate:
            assert not agree(certificate)


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,3,3", "dodgem"])
def test_another_root_or_claim_is_noticed(text):
    game, solved, truth = load_game(text), proof_of(text, 1), truth_of(text)
    for root in Random(1).sample(sorted(truth), 12):
        with forged(game, replace(solved, root=root)) as certificate:
            if agree(certificate):
                assert solved.at_least <= truth[root][0] <= solved.at_most
    value = truth[game.canonical(game.start)][0]
    for least in (LOSE, DRAW, TIE, WIN):
        for most in (LOSE, DRAW, TIE, WIN):
            if least <= most and (least, most) != (LOSE, WIN):
                with forged(game, replace(solved, at_least=least, at_most=most)) as certificate:
                    if verify_certificate(certificate, interpreted=True).ok:
                        assert least <= value <= most


REFUSED = [
    *("awari", "bearoff", "cantstop", "chutes", "dotsandboxes:1,1", "eightpuzzle", "game2048", "hanoi"),
    *("kalah:2,2", "klotski", "lightsout", "nim3:5", "othello:4,4", "pegsolitaire", "pig", "piglet", "pocketcube"),
    *("tictactoe3:2", "ur", "yahtzee"),
]
"""Variants of built-in games that have no certificates."""


def test_games_without_certificates_are_known():
    names = {text.partition(":")[0] for text in REFUSED}
    assert names < set(BUILT_IN)
    others = [
        "chess:KRK",
        "connect4",
        "dodgem",
        "draughts:KKvK",
        "foxandhounds",
        "lgame",
        "mutorere",
        "nim",
        "tentozero",
        "tictactoe",
    ]
    for text in [*REFUSED, *others]:
        game = load_game(text)
        refused = bool(not_for_proofs(game)) or not alternates(game)
        assert refused == (text in REFUSED), text


def line_of(game, dice):
    """Return the undecided positions of a game at random, of 100 plies at most."""
    position, line = game.start, []
    while game.primitive(position) == UNDECIDED and len(line) < 100:
        line.append(position)
        position = game.do_move(position, dice.choice(list(game.generate_moves(position))))
    return line


def false_draw(game, dice):
    """Return a certificate that a lost position is no loss, if possible without fault if turns alternated."""
    for number in range(40):
        for place in line_of(game, dice)[-3:-6:-1]:
            root = game.canonical(place)
            wrong, right = (solver.solve(game, symmetric=True, starts=[root]) for solver in (reference, turning))
            if right[root][0] == LOSE and (wrong[root][0] > LOSE or (number > 10 and len(wrong) > 9)):
                strategy = strategy_of(game, wrong, DRAW, lambda *args: FLIPPED[args[-1]])
                return SolvedCertificate(root, DRAW, WIN, 0, **strategy)
    raise AssertionError("no position is lost")


def one_reply(game, dice):
    """Return a certificate that takes it that turns alternate, so that a move to an end that is bad for the player to
    move there is a win. If no game at random comes to such an end, it is a draw by endless play, wrong at sight."""
    for _ in range(100):
        for position in line_of(game, dice):
            ends = [game.primitive(game.do_move(position, move)) for move in game.generate_moves(position)]
            if LOSE in ends and game.canonical(position) == position:
                return SolvedCertificate(position, WIN, WIN, 1, np.array([position]), np.array([ends.index(LOSE)]))
    position = game.canonical(game.start)
    return SolvedCertificate(position, DRAW, TIE, 1, np.array([position]), np.array([0]))


@pytest.mark.parametrize(
    "text",
    thorough_but(
        REFUSED, *(text for text in REFUSED if text not in ("klotski", "othello:4,4", "pocketcube", "yahtzee"))
    ),
)
def test_a_forged_certificate_of_a_game_that_has_none_is_refused(text, tmp_path):
    game = load_game(text)
    with pytest.raises(NotForSearch):
        CertificateProver(game, game.start, ProofGoal(), 1, SMALL)
    forge = one_reply if not_for_proofs(game) else false_draw
    with opened(tmp_path, game, forge(game, Random(1))) as certificate:
        report = verify_certificate(certificate)
        with pytest.raises(NotForSearch):
            CertifiedOracle(certificate)
    assert not report.ok
    if forge is one_reply:
        assert str(report.problems[0]) == f"it is no proof: {not_for_proofs(game)}"


# Players who move again


def strategy_of(game, truth, goal, brought=value_to_mover):
    """Return canonical positions from which the player to move reaches a goal, replies that do, and plies to the end
    of a win. *brought* gives what the value of a child is to the player who moved there."""
    rows = []
    for position, (value, plies) in sorted(truth.items()):
        if game.primitive(position) == UNDECIDED and value >= goal and position == game.canonical(position):
            children = [game.do_move(position, move) for move in game.generate_moves(position)]
            known = [(child, *truth[game.canonical(child)]) for child in children]
            good = [
                brought(game, position, child, there) >= goal and (goal != WIN or far == plies - 1)
                for child, there, far in known
            ]
            rows.append((position, good.index(True), plies or 0))
    positions, replies, bounds = np.array(rows, np.int64).T
    return {"positions": positions, "replies": replies, "bounds": bounds if goal == WIN else None}


@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.thorough)])
def test_certificates_are_right_where_the_same_player_may_move_again(seed, tmp_path):
    """True strategies of random games with cycles are accepted, and nothing that is false."""
    game, verdicts = turning.Turning(), {True: 0, False: 0}
    start = tangle.position_of(seed, False, 1, 1, 63)
    truth = turning.solve(game, symmetric=True, starts=[start])
    undecided = [position for position in truth if game.primitive(position) == UNDECIDED]
    for goal in (WIN, DRAW):
        strategy = strategy_of(game, truth, goal)
        path = write_certificate(
            tmp_path / f"{goal.name}.h5", game, SolvedCertificate(undecided[0], goal, WIN, 0, **strategy)
        )
        for root in undecided:
            value = truth[root][0]
            for least, most in ((WIN, WIN), (LOSE, LOSE)) if goal == WIN else ((DRAW, TIE), (DRAW, WIN), (LOSE, TIE)):
                with open_certificate(path, game=game) as certificate:
                    certificate.file.root, certificate.file.at_least, certificate.file.at_most = root, least, most
                    ok = verify_certificate(certificate).ok
                assert ok == (least <= value <= most)
                verdicts[ok] += 1
    assert min(verdicts.values()) > 20


def test_a_strategy_that_is_changed_where_the_same_player_may_move_again_proves_nothing_false(tmp_path):
    game, dice, refused = turning.Turning(), Random(2), 0
    truth = turning.solve(game, symmetric=True, starts=[tangle.position_of(3, False, 1, 1, 63)])
    undecided = [position for position in truth if game.primitive(position) == UNDECIDED]
    path = write_certificate(
        tmp_path / "one.h5", game, SolvedCertificate(undecided[0], WIN, WIN, 0, **strategy_of(game, truth, WIN))
    )
    for number in range(60):
        with open_certificate(path, game=game) as certificate:
            positions, replies, bounds = (column.copy() for column in certificate.content)
            place = dice.randrange(len(positions))
            if number % 2:
                other = dice.choice(undecided)  # which need not be a win
                if other not in positions:
                    positions[place] = other
                    positions.sort()
            replies[place] = dice.randrange(3)
            bounds[place] += dice.choice([-1, 0, 1, 9])
            certificate.content = ReplyBlock(positions, replies, np.maximum(bounds, 0))
            certificate.file.root = int(positions[place])
            ok = verify_certificate(certificate).ok
        assert not ok or truth[certificate.file.root][0] == WIN
        refused += not ok
    assert refused > 30


class Tossed(turning.Told):
    """Nim, where at the start a coin is said to decide, though nothing else says so."""

    def turn(self, position):
        return CHANCE if position == self.start else super().turn(position)


def test_a_strategy_for_what_chance_decides_proves_nothing(tmp_path):
    truth = turning.solve(turning.Told())
    strategy = strategy_of(turning.Told(), truth, WIN)
    root = turning.Told().start
    for game, least in ((turning.Told(), truth[root][0]), (Tossed(), None)):
        solved = SolvedCertificate(root, WIN, WIN, 0, **strategy)
        with opened(tmp_path, game, solved) as certificate:
            assert verify_certificate(certificate).ok == (least == WIN)
        (tmp_path / "one.proof.h5").unlink()


class Passing(Game):
    """The second player may pass for ever, or let the first one win."""

    start = 0

    def turn(self, position):
        return position > 0

    def generate_moves(self, position):
        yield from range(1 if position == 0 else 2)

    def do_move(self, position, move):
        return (1, (3 - position, 3)[move])[position > 0]

    def primitive(self, position):
        return LOSE if position == 3 else UNDECIDED

    def tier(self, position):
        return int(position > 0)


def test_the_other_side_that_moves_for_ever_is_not_beaten(tmp_path):
    game, one = Passing(), np.array([0], np.int64)
    for least, most, bounds, ok in (
        (WIN, WIN, None, False), (WIN, WIN, one + 99, False), (TIE, WIN, None, False), (DRAW, WIN, None, True),
    ):  # fmt: skip
        solved = SolvedCertificate(0, least, most, 1, one, one, bounds)
        with opened(tmp_path, game, solved) as certificate:
            assert verify_certificate(certificate).ok == ok
        (tmp_path / "one.proof.h5").unlink()


def test_tiers_that_are_taken_to_rise_and_do_not_lead_to_bounds(monkeypatch, tmp_path):
    """Positions of one tier that follow one another are no progress: games at random need not have met them."""
    monkeypatch.setattr(prover, "tiers_rise", lambda *_: True)
    game = load_game("dodgem")
    solved = CertificateProver(game, game.start, ProofGoal(WIN, leaves=1), 1, SMALL).prove()
    assert solved.bounds is not None
    with opened(tmp_path, game, solved) as certificate:
        assert agree(certificate)


def test_a_position_that_is_none_is_noticed():
    game, solved = load_game("tictactoe"), proof_of("tictactoe", 1)
    end = next(position for position in sorted(truth_of("tictactoe")) if game.primitive(position) != UNDECIDED)
    image = next(one for one in game.images(int(solved.positions[-1])) if one not in solved.positions)
    for more in (end, image, (1 << 61) + 5):
        positions = np.append(solved.positions, more)
        order = np.argsort(positions)
        replies = np.append(solved.replies, 0)[order]
        with forged(game, replace(solved, positions=positions[order], replies=replies)) as certificate:
            assert not verify_certificate(certificate, interpreted=True).ok
            assert not verify_certificate(certificate, interpreted=False).ok


def test_a_file_that_contradicts_itself_is_damaged(tmp_path):
    game, solved = load_game("dodgem"), proof_of("dodgem", 1)
    path = write_certificate(tmp_path / "one.proof.h5", game, solved)
    for name, value in (("root", -1), ("at_least", 0), ("at_most", 9), ("leaves", 99), ("stored", 3), ("at_most", 1)):
        forged = Forged.read(path)
        forged.attributes[name] = value
        with pytest.raises(DamagedDatabase):
            CertificateFile(forged.write(tmp_path / "forged.proof.h5"))
    forged = Forged.read(path)
    rows = forged.parts["blocks"].rows()
    rows["position"] = -5
    forged.parts["blocks"].put(rows)
    with CertificateFile(forged.write(tmp_path / "forged.proof.h5")) as file, pytest.raises(DamagedDatabase):
        file.contents.all()


# Play


@pytest.mark.parametrize(
    ("text", "sides"), thorough_but([("connect4:4,4", 2), ("dodgem", 1), ("tictactoe", 2)], ("dodgem", 1))
)
def test_who_plays_by_a_certificate_keeps_what_it_proves(text, sides, tmp_path):
    game, chance = load_game(text), Random(7)
    with opened(tmp_path, game, proof_of(text, 1)) as certificate, CertifiedOracle(certificate, 1.0) as oracle:
        for number in range(12):
            position, mine = game.start, number % sides
            while game.primitive(position) == UNDECIDED:
                if mine:
                    position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
                else:
                    position = oracle.best(position)[0].position
                mine = 1 - mine
            value = game.primitive(position)  # for who is to move: the other side, if it is not our turn
            assert (FLIPPED[value] if mine else value) >= certificate.goal


def test_a_question_with_less_time_than_usual_is_searched_as_well(tmp_path, monkeypatch):
    """A share of the time that is left goes to looking for more than the certificate promises."""
    game, asked = load_game("mutorere"), []
    with opened(tmp_path, game, proof_of("mutorere", 1)) as certificate, CertifiedOracle(certificate, 60.0) as oracle:
        search = oracle.search_until
        monkeypatch.setattr(
            oracle, "search_until", lambda *given, **more: asked.append(given[1]) or search(*given, **more)
        )
        began = monotonic()
        oracle.best(game.start, seconds=0.5)
        assert asked and began < asked[0] < began + 0.5


def test_what_a_certificate_knows_is_true(tmp_path):
    for text in ("connect4:4,3,3", "dodgem", "mutorere"):
        game, truth = load_game(text), truth_of(text)
        with opened(tmp_path, game, proof_of(text, 1)) as certificate, CertifiedOracle(certificate, 1.0) as oracle:
            known = {position: oracle.probe(position, 0) for position in truth}
            assert all(one.at_least <= truth[position][0] <= one.at_most for position, one in known.items())
            assert sum(one.evidence.source == "certificate" for one in known.values()) > 10


# The command line


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.thorough
def test_the_command_line(home):
    told = json.loads(retrograde("prove", "connect4:4,4", "--leaves", 3, "--workers", 1, "--json").stdout)
    assert (told["class"], told["at_least"], told["at_most"]) == ("weak", "tie", "tie")
    assert told["path"] == str(certificate_path("connect4:width=4,height=4"))
    assert told["stored"] < 1000
    assert "800 replies" in retrograde("prove", "connect4:4,4", "--leaves", 3, "--workers", 1).stdout
    assert "800 replies checked, and every one is right" in retrograde("verify", "connect4:4,4").stdout
    assert "as it was written" in retrograde("verify", "connect4:4,4", "--quick").stdout
    assert "weak: a strategy" in retrograde("info", "connect4:4,4").stdout
    assert json.loads(retrograde("info", "connect4:4,4", "--json").stdout)["class"] == "weak"
    told = retrograde("info", "tictactoe", "--database", certificate_path("connect4:width=4,height=4"), status=1).stderr
    assert told.endswith("is of connect4:width=4,height=4, not of tictactoe\n")
    assert [one["class"] for one in json.loads(retrograde("list", "--json").stdout)] == ["weak"]
    assert "it proves" in retrograde("list").stdout
    asked = json.loads(retrograde("query", "connect4:4,4", "--time", "1e-9", "--json").stdout)
    assert (asked["value"], asked["source"]) == ("tie", "certificate")
    assert "tie" in retrograde("play", "connect4:4,4", "--first", "perfect", "--second", "perfect", "--time", 1).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "after"), thorough_but([("connect4:4,4", 60), ("dodgem", 10)], ("dodgem", 10)))
def test_a_proof_that_is_stopped_goes_on_and_comes_to_the_same(home, monkeypatch, text, after):
    """It is stopped in the middle of its replies; what was chosen is not chosen again."""
    from retrograde.solver.search.certificates import walk

    def add_reply(self, position):
        if len(self.replies) > after:
            raise KeyboardInterrupt
        own(self, position)

    chosen, own = [], walk.CertificateWalk.add_reply
    options = ["prove", text, "--workers", 1, "--table", "16M"]
    retrograde(*options)
    path = next(home.glob("*.proof.h5"))
    whole = path.read_bytes()
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(walk.CertificateWalk, "add_reply", add_reply)
        stopped = retrograde(*options, status=130).stderr
    assert stopped.endswith("interrupted; finished work is kept, and the same command resumes it\n")
    assert [one.name for one in home.iterdir()] == [path.name + ".journal"]
    path.write_bytes(whole)  # the certificate of before is no reason not to go on
    told = retrograde("list").stdout
    path.unlink()
    noted = int(re.search(r"proving: (\d+) replies", told)[1])
    assert noted > 3
    for kind in (walk.CertificateWalk, walk.BoundedWalk):
        monkeypatch.setattr(kind, "find_reply", counted(kind.find_reply, chosen))
    retrograde(*options)
    assert path.read_bytes() == whole and [one.name for one in home.iterdir()] == [path.name]
    with open_certificate(path) as certificate:
        assert certificate.file.stored - noted == len(chosen) > 0


def counted(rule, calls):
    """Return a method that notes that it was called."""

    def noted(self, *args):
        calls.append(args)
        return rule(self, *args)

    return noted


def test_a_proof_that_is_stopped_before_anything_is_found_leaves_nothing_and_says_so(home, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CertificateProver, "prove", stop)
    stopped = retrograde("prove", "tictactoe", "--workers", 1, "--table", "16M", status=130).stderr
    assert stopped.endswith("interrupted; the same command starts again\n")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, CannotWrite("the disk is full")])
def test_a_journal_that_cannot_be_opened_stays(home, monkeypatch, error):
    def fail(self, *_):
        raise error

    path = home / "some.proof.h5"
    with suppress(ProofTimeout), open_proof_journal(path, "identity", fresh=False) as (journal, _):
        journal.append("replies")
        raise ProofTimeout("out of time")
    content = journal.path.read_bytes()
    monkeypatch.setattr(Journal, "entries", fail)
    with pytest.raises((Failure, CannotWrite)), open_proof_journal(path, "identity", fresh=False):
        pass
    assert journal.path.read_bytes() == content


@pytest.mark.thorough
def test_a_killed_writing_leaves_no_certificate_and_is_told_of(home):
    """What was being written has another name: it is no certificate to anybody, and is removed by name."""
    partial = home / "tictactoe.proof.h5.81-c0ffee01.partial"
    partial.write_bytes(b"half a certificate")
    assert json.loads(retrograde("query", "tictactoe", "--time", 1, "--json").stdout)["source"] == "search"
    (left,) = json.loads(retrograde("list", "--json").stdout)
    assert left["interrupted"]["says"] == "of no use: there is no journal"
    assert left["interrupted"]["files"] == [str(partial)]


@pytest.mark.thorough
def test_a_book_is_asked_before_a_certificate_and_that_before_a_search(home):
    retrograde("prove", "connect4:4,4", "--leaves", 1, "--workers", 1, "--table", "16M")
    start = json.loads(retrograde("query", "connect4:4,4", "--time", "1e-9", "--json").stdout)
    assert (start["value"], start["source"]) == ("tie", "certificate")
    retrograde("book", "connect4:4,4", "--plies", 1, "--workers", 1)
    asked = retrograde("query", "connect4:4,4", "--time", "1e-9")
    assert "a certificate proves a tie" in asked.stderr and "beyond its book of 1 ply" in asked.stderr
    with searching_oracle(load_game("connect4:4,4"), 0.0) as oracle:
        known = oracle.probe(oracle.game.start)
        assert (known.value, known.evidence.source) == (TIE, "book")
        replies = oracle.certificate.content.positions.tolist()
        assert oracle.probe(replies[len(replies) // 2]).evidence.source == "certificate"
    deeper = json.loads(retrograde("query", "connect4:4,4", "2122", "--time", 5, "--json").stdout)
    assert (deeper["value"], deeper["source"]) == ("lose", "search")


def test_info_and_verify_take_the_book_before_a_certificate_as_query_does(home):
    retrograde("prove", "tictactoe", "--workers", 1, "--table", "16M")
    assert json.loads(retrograde("info", "tictactoe", "--json").stdout)["class"] == "weak"
    retrograde("book", "tictactoe", "--plies", 2, "--workers", 1, "--value-only")
    with find_book(load_game("tictactoe")) as book:
        digest = book.file.digest
    assert json.loads(retrograde("info", "tictactoe", "--json").stdout)["book"]["plies"] == 2
    assert json.loads(retrograde("verify", "tictactoe", "--json").stdout)["book"] == {"plies": 2}
    assert json.loads(retrograde("verify", "tictactoe", "--quick", "--json").stdout)["digest"] == digest
    for command in ("info", "verify"):
        end = f"there is a certificate as well: retrograde {command} {certificate_path('tictactoe')}\n"
        assert retrograde(command, "tictactoe").stdout.endswith(end)
        assert "as well" not in retrograde(command, certificate_path("tictactoe")).stdout
    book_path("tictactoe").unlink()
    assert json.loads(retrograde("info", "tictactoe", "--json").stdout)["class"] == "weak"


def test_a_forged_certificate_fails_on_the_command_line(home):
    game, solved = load_game("dodgem"), proof_of("dodgem", 1)
    path = write_certificate(home / "forged.proof.h5", game, replace(solved, replies=solved.replies * 0))
    assert "wrong" in retrograde("verify", path, status=1).stdout
    assert json.loads(retrograde("verify", path, "--json", status=1).stdout)["ok"] is False


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tictactoe", "--value", "win"], "is not a win; leave out --value"),
        (["tictactoe", "--value", "lose", "--at-least"], "there is nothing to prove"),
        (["tictactoe", "XXX/OO./..."], "the game is over"),
        (["connect4", "--time", "0.2"], "not proved within 0.2 s"),
        (["connect4:4,4", "--leaves", "1", "--memory", "10K"], "give more --memory"),
    ],
)
def test_what_cannot_be_proved_is_one_line_and_leaves_nothing(home, words, said):
    result = retrograde("prove", *words, "--workers", 1, "--table", "16M", status=1)
    assert said in result.stderr and result.stderr.count("\n") == 1
    assert len(list(home.iterdir())) == ("--memory" in words)  # with more, what was found by then is taken up


def test_an_even_number_of_leaves_is_refused(home):
    assert "2 is even" in retrograde("prove", "tictactoe", "--leaves", 2, status=2).stderr


# Large ones


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "value", "table"),
    [
        ("connect4:6,4", LOSE, 1 << 29),
        ("connect4:5,5", TIE, 1 << 29),
        ("connect4:6,5", TIE, 1 << 29),
        ("connect4", WIN, 1 << 32),  # Allen and Allis, 1988; some ten minutes
    ],
)
def test_larger_boards_are_proved(text, value, table, tmp_path):
    game = load_game(text)
    solved = CertificateProver(game, game.start, ProofGoal(), 2, table).prove()
    assert (solved.at_least, solved.at_most) == (value, value)
    with opened(tmp_path, game, solved) as certificate:
        assert verify_certificate(certificate).ok
