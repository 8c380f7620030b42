"""Searches and proofs of positions of several words: the same as of the same games in one word."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from retrograde.databases import CertificateFile, DamagedDatabase, open_certificate, write_certificate
from retrograde.databases.certificates.write import SolvedCertificate
from retrograde.games import LOSE, TIE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.play.oracles.certified import CertifiedOracle
from retrograde.solver.search.certificates.prover import CertificateProver, NothingToProve, ProofGoal
from retrograde.solver.search.depth.scoring import BEST, GIVEN, WORST
from retrograde.solver.search.depth.searcher import CountingSearch, PointSearch, ValueSearch
from retrograde.solver.search.prover import ProofNumberSearch
from retrograde.solver.search.scores.searcher import ScoreSearch
from retrograde.solver.search.searcher import Search
from retrograde.solver.verification.certificates import verify_certificate
from tests.helpers.apart import Apart, InOne, InTwo
from tests.helpers.flipping import flips_noticed
from tests.helpers.forge import Forged
from tests.helpers.reference import solve
from tests.helpers.wide import OneConnectFour, TallPawns, WideConnectFour, WideTicTacToe, graph_of

pytestmark = pytest.mark.long

TWINS = [
    (lambda: WideConnectFour(4, 4), lambda: OneConnectFour(4, 4)),
    *((lambda w=w: graph_of(Apart, w), lambda w=w: graph_of(InOne, w)) for w in range(6)),
]


@pytest.mark.thorough
@pytest.mark.parametrize("twins", TWINS)
def test_depth_searches_count_and_score_the_same(twins):
    wide, one = (kind() for kind in twins)
    if wide.primitive(wide.start) != UNDECIDED:
        return
    for order in (GIVEN, BEST, WORST):
        counted = [CountingSearch(game).count(game.start, 5, order) for game in (wide, one)]
        assert counted[0] == counted[1]
    assert CountingSearch(wide).count_minimax(wide.start, 4) == CountingSearch(one).count_minimax(one.start, 4)
    for depth in (1, 3, 6):
        for kind in (ValueSearch, PointSearch):
            assert kind(wide).scores(wide.start, depth) == kind(one).scores(one.start, depth)


@pytest.mark.thorough
@pytest.mark.parametrize("twins", TWINS)
def test_alpha_beta_proves_the_same(twins):
    wide, one = (kind() for kind in twins)
    depth = None if isinstance(one, OneConnectFour) else 12  # play on some graphs repeats
    results = [Search(game, 1, 1 << 27).find(game.start, None if depth else 600.0, depth=depth) for game in (wide, one)]
    assert fields_of(results[0])[:5] == fields_of(results[1])[:5]
    if not depth:
        assert (results[0].value, results[0].remoteness) == (TIE, 16)  # weakly solved by John Tromp
        assert len(Search(wide).line(wide.start, results[0])) == 16


def fields_of(result):
    return tuple(vars(result).values())


@pytest.mark.thorough
def test_scores_are_the_same():
    wide, one = WideTicTacToe(), load_game("tictactoe")
    for game, score in ((wide, ScoreSearch(wide)), (one, ScoreSearch(one))):
        assert score.score(game.start).score == 0


# Proofs

GRAPHS = 3, 5, 6, 19, 29, 38
"""Random graphs: with cycles (odd numbers), and with symmetry (every third)."""


@pytest.mark.thorough
@pytest.mark.parametrize("which", GRAPHS)
def test_proof_numbers_are_those_of_one_word(which):
    split, one = graph_of(InTwo, which), graph_of(InOne, which)
    truth = solve(one, symmetric=True)
    searches = ProofNumberSearch(split, 1 << 20), ProofNumberSearch(one, 1 << 20)
    for position, (value, _) in sorted(truth.items()):
        halves = split.at(one.graph(position), one.node(position))
        found = searches[0].find(halves), searches[1].find(position)
        assert found[0].value == found[1].value == value
        assert found[0].nodes == found[1].nodes


@pytest.mark.thorough
def test_proof_numbers_of_a_larger_game_are_those_of_one_word():
    found = [
        ProofNumberSearch(game, 1 << 24).find(game.start) for game in (WideConnectFour(4, 4), OneConnectFour(4, 4))
    ]
    assert found[0].nodes == found[1].nodes > 10_000
    assert found[0].value == TIE  # weakly solved by John Tromp


@pytest.mark.thorough
@pytest.mark.parametrize("size", [0, 1 << 12, 1 << 22])
def test_proof_numbers_of_a_game_that_fits_no_word_are_right(size):
    game = TallPawns()
    truth = solve(game)
    search = ProofNumberSearch(game, size)
    for position in Random(3).sample(sorted(truth), 60):
        assert search.find(position).value == truth[position][0]


@pytest.mark.slow
def test_the_hounds_win():
    game = load_game("foxandhounds")
    assert ProofNumberSearch(game, 1 << 26).find(game.start).value == LOSE  # for the fox; Winning Ways


def certificate_of(game, position, leaves, folder=None):
    """Return a certificate of a position: not in a file, or written to a folder and opened."""
    solved = CertificateProver(game, position, ProofGoal(leaves=leaves), 1, 1 << 22).prove()
    return (
        solved
        if folder is None
        else open_certificate(write_certificate(folder / "a.proof.h5", game, solved), game=game)
    )


def is_proved(certificate):
    reports = [verify_certificate(certificate, 1, interpreted=way) for way in (True, False)]
    assert reports[0].ok == reports[1].ok
    return reports[0].ok


@pytest.mark.thorough
@pytest.mark.parametrize("which", GRAPHS)
def test_certificates_are_those_of_one_word(which, tmp_path):
    split, one = graph_of(InTwo, which), graph_of(InOne, which)
    made = 0
    for position in sorted(solve(one, symmetric=True)):
        halves = split.at(one.graph(position), one.node(position))
        try:
            known = certificate_of(one, position, 0)
        except NothingToProve:
            continue
        with certificate_of(split, halves, 0, tmp_path) as certificate:
            content, file = certificate.content, certificate.file
            assert [split.at(one.graph(p), one.node(p)) for p in known.positions.tolist()] == [
                *map(tuple, content.positions.tolist())
            ]
            assert content.replies.tolist() == known.replies.tolist()
            assert (content.bounds is None) == (known.bounds is None)
            assert content.bounds is None or content.bounds.tolist() == known.bounds.tolist()
            assert (file.root, file.at_least, file.at_most) == (halves, known.at_least, known.at_most)
            assert is_proved(certificate)
            file.check()
        made += 1
    assert made


@pytest.mark.thorough
def test_a_certificate_of_a_larger_game_is_that_of_one_word(tmp_path):
    one, split = OneConnectFour(4, 4), WideConnectFour(4, 4)
    known = certificate_of(one, one.start, 3)
    with certificate_of(split, split.start, 3, tmp_path) as certificate:
        words = np.stack([known.positions >> 30, known.positions & (1 << 30) - 1], axis=1)
        assert (certificate.content.positions == words).all()
        assert (certificate.content.replies == known.replies).all()
        assert (certificate.file.at_least, certificate.file.at_most) == (TIE, TIE)
        assert is_proved(certificate)
        oracle = CertifiedOracle(certificate, 1.0)
        assert oracle.bounds_without_search(split.start).at_least == TIE


@pytest.mark.thorough
def test_a_certificate_of_a_game_that_fits_no_word_is_proved_and_its_faults_are_found(tmp_path):
    game = TallPawns()
    truth = solve(game)
    with certificate_of(game, game.start, 1, tmp_path) as certificate:
        file, content = certificate.file, certificate.content
        assert file.at_least == file.at_most == truth[game.start][0]
        assert is_proved(certificate)
        for position in map(tuple, content.positions.tolist()):
            reply = certificate.reply(position)
            assert truth[position][0] >= reply.at_least
            assert truth[game.do_move(position, reply.move)][0] <= LOSE  # the opponent's
        # A position less, and another reply: both are found.
        whole = certificate.content
        for i in (0, len(whole.positions) // 2):
            certificate.content = whole._replace(
                replies=np.where(np.arange(len(whole.replies)) == i, 99, whole.replies)
            )
            assert not is_proved(certificate)
        columns = (None if one is None else np.delete(one, len(one) // 3, 0) for one in whole)
        certificate.content = type(whole)(*columns)
        assert not is_proved(certificate)


@pytest.mark.thorough
def test_a_damaged_certificate_is_noticed(tmp_path):
    game = TallPawns()
    with certificate_of(game, game.start, 1, tmp_path) as certificate:
        path, stored = certificate.file.path, certificate.content
    # Flipped bits.
    whole = path.read_bytes()
    assert flips_noticed(path, game, stored, 100) > 30
    # Files whose checksums fit.
    path.write_bytes(whole)
    for root in ("[3]", "[3, 4, 5]", "[3, -1]", "3", 3):
        forged = Forged.read(path)
        forged.attributes["root"] = root
        with pytest.raises(DamagedDatabase):
            CertificateFile(forged.write(tmp_path / "forged.proof.h5"))
    forged = Forged.read(path)
    rows = forged.parts["blocks"].rows()
    rows["position"] += 1
    forged.parts["blocks"].put(rows)
    with CertificateFile(forged.write(tmp_path / "forged.proof.h5")) as file, pytest.raises(DamagedDatabase):
        file.contents.all()
    solved = certificate_of(game, game.start, 1)
    with pytest.raises(ValueError, match="do not ascend"):
        write_certificate(path, game, replace(solved, positions=solved.positions[::-1]))


@pytest.mark.parametrize("count", [1, 65536, 65537, 150_000])
def test_blocks_of_any_length_are_read_as_written(tmp_path, count):
    """Many positions share their first word, so that it is the same in several blocks."""
    words = np.sort(np.random.default_rng(count).integers(0, 1 << 61, count, dtype=np.int64))
    positions = np.stack([words >> 59, words], axis=1)
    solved = SolvedCertificate((0, 0), TIE, TIE, 0, positions, positions[:, 1] % 7)
    with CertificateFile(write_certificate(tmp_path / "a.proof.h5", TallPawns(), solved)) as file:
        content = file.contents.all()
        assert (content.positions == positions).all() and (content.replies == solved.replies).all()
        file.check()
