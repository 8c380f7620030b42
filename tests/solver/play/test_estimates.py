"""Books of estimates: equal to a plain recursion, played from, never taken for values, and made on after a kill."""

import json
from itertools import pairwise
from random import Random

import pytest

from retrograde.cli.commands.unfinished import read_progress
from retrograde.databases.location import estimates_path
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game, variant
from retrograde.solver.play.answer import answer_of
from retrograde.solver.play.oracles import estimating
from retrograde.solver.play.oracles.audit_estimates import verify_estimates
from retrograde.solver.play.oracles.book import NoBook
from retrograde.solver.play.oracles.estimating import EstimatesOptions, make_estimates
from retrograde.solver.play.oracles.open import searching_oracle
from retrograde.solver.play.player import make_player
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.estimated_book import (
    NoEstimates,
    WrongEstimates,
    digest_of_facts,
    open_estimates,
    read_estimates,
    write_estimates,
)
from retrograde.solver.search.depth.scores import DECIDED, FAR
from retrograde.solver.search.depth.searcher import ValueSearch
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.tangle import Tangle, position_of

pytestmark = pytest.mark.long

SMALL = "draughts:MMvMM,4"
LARGE = "draughts:rows=6"
"""A game whose positions have two words. Few other tests need the loops that search it."""
"""The whole game on 4 × 4, in which kings can go round in circles."""


class EstimatedTangle(Tangle):
    """A random graph with a meaningless estimate."""

    name = "estimated_tangle"
    has_ties = True

    def estimate(self, position):
        return self.random(position, 7) % 41 - 20


def tangle_of(number):
    """Return a graph of some twenty nodes."""
    chance = Random(number)
    game = EstimatedTangle()
    start = position_of(chance.randrange(1 << 20), chance.randrange(2), chance.randrange(2), 0, 8 + number % 6)
    vars(game)["start"] = start
    return game


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for books."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    return tmp_path


def book_of(game, path, plies=3, depth=2, **options):
    """Make a book, open it, and expect that verifying it finds nothing."""
    book = open_estimates(make_estimates(game, EstimatesOptions(plies, depth, **options), path), game)
    assert verify_estimates(book).problems == []
    return book


# A plain version


def for_parent(score):
    """Return what a child is worth for its parent, in which it is one ply farther to a win or loss."""
    return -score + (score > DECIDED) - (score < -DECIDED)


def children_of(game, position):
    return [game.canonical(game.do_move(position, move)) for move in game.generate_moves(position)]


def negamax(game, position, depth):
    """Return the score of a position by searching everything: to the depth, and as long as it is not quiet."""
    if (end := game.primitive(position)) != UNDECIDED:
        return {WIN: FAR, LOSE: -FAR, TIE: 0, DRAW: 0}[end]
    if depth <= -8 or (depth <= 0 and game.quiet(position)):
        return game.estimate(position)
    return max(for_parent(negamax(game, child, depth - 1)) for child in children_of(game, position))


def positions_within(game, plies):
    """Return the canonical positions within some plies of the start."""
    found = wave = {game.canonical(game.start)}
    for _ in range(plies):
        wave = {
            child for one in wave if game.primitive(one) == UNDECIDED for child in children_of(game, one)
        } - found  # fmt: skip
        found |= wave
    return found


def plain_scores(game, positions, depth):
    """Return the scores of a book's positions: of each play of many plies through the book, 0 if it goes on."""
    inner = {
        one: children_of(game, one)
        for one in positions
        if game.primitive(one) == UNDECIDED and positions.issuperset(children_of(game, one))
    }
    leaves = {one: negamax(game, one, depth) for one in positions - inner.keys()}
    scores = {one: leaves.get(one, 0) for one in positions}
    for _ in range(4 * len(positions)):
        scores = {
            one: leaves[one] if one in leaves else max(for_parent(scores[child]) for child in inner[one])
            for one in positions
        }
    return scores


@pytest.mark.parametrize("plies", [2, 5])
def test_a_book_of_a_random_graph_is_what_a_plain_recursion_finds(tmp_path, plies):
    inner = circles = ends = symmetric = 0
    for number in range(40):
        game = tangle_of(number)
        if game.primitive(game.start) != UNDECIDED:
            continue
        positions = positions_within(game, plies)
        book = book_of(game, tmp_path / f"{number}.estimates.json", plies, depth=1)
        assert book.file.estimates == {
            game.write(one): score for one, score in plain_scores(game, positions, 1).items()
        }
        inner += sum(bool(book.moves(one)) for one in positions)
        circles += any(one in children_of(game, child) for one in positions for child in children_of(game, one))
        ends += sum(game.primitive(one) != UNDECIDED for one in positions)
        symmetric += sum(game.canonical(child) != child for one in positions
                         for child in (game.do_move(one, move) for move in game.generate_moves(one)))  # fmt: skip
    assert min(inner, circles, ends, symmetric) > 3


@pytest.mark.parametrize(("text", "plies", "depth"), [(SMALL, 7, 3), thorough((LARGE, 3, 2))])
def test_a_book_of_draughts_is_what_a_plain_recursion_finds(home, text, plies, depth):
    """The search stops where it has found a win. A plain one may find it sooner by looking deeper."""
    game = load_game(text)
    book, positions = book_of(game, None, plies, depth), positions_within(game, plies)
    plain = plain_scores(game, positions, depth)
    assert book.file.estimates.keys() == {game.write(one) for one in positions} and len(positions) > 40
    for position, score in plain.items():
        mine = book.score(position)
        assert mine == score or min(mine, score) > DECIDED or max(mine, score) < -DECIDED
    assert sum(abs(score) < DECIDED for score in plain.values()) > 40


def test_play_round_in_circles_is_a_draw(home):
    """Two kings against one on 4 × 4: a position of the book whose value is 0 though no search has it."""
    book = book_of(load_game(SMALL), None, 12, 1)
    game, scores = book.game, book.file.estimates
    leaves = {text for text in scores if not book.moves(game.read(text))}
    within = {text for text, score in scores.items() if score == 0 and text not in leaves}
    assert within
    # Each of these has a move to another of them, or to a leaf of score 0.
    for text in within:
        assert any(book.score(child) == 0 for child in children_of(game, game.read(text)))


# Choosing the best lines


@pytest.mark.parametrize("text", thorough_but(["dodgem:4", LARGE], "dodgem:4"))
def test_the_best_lines_come_first(text, tmp_path, monkeypatch):
    """The next position to extend is one whose line costs least, by all lines through the book."""
    game, batches = load_game(text), []
    next_batch = estimating.EstimatesMaker.next_batch

    def noted(self):
        batch = next_batch(self)
        if batch and self.children:
            batches.append((self.children.copy(), self.scores.copy(), self.leaves(), batch))
        return batch

    monkeypatch.setattr(estimating.EstimatesMaker, "next_batch", noted)
    book = book_of(game, tmp_path / "x.estimates.json", 20, 3, most=150)
    assert 150 <= len(book.file.estimates) < 160 and len(batches) > 10

    def lines(children, number, path):
        """Yield all lines without repetition, as tuples of positions."""
        yield (*path, number)
        for child in children.get(number, ()):
            if child not in (*path, number):
                yield from lines(children, child, (*path, number))

    for children, scores, leaves, batch in batches[:8]:
        losses = [scores[one] + scores[child] for one, found in children.items() for child in found]
        lost = sorted(loss for loss in losses if loss > 0) or [1]
        usual = (lost[(len(lost) - 1) // 2] + lost[len(lost) // 2]) / 2
        cheapest = {}
        for line in lines(children, 0, ()):
            gone = sum(scores[one] + scores[child] for one, child in pairwise(line))
            cheapest[line[-1]] = min(cheapest.get(line[-1], 1e9), len(line) - 1 + gone / usual)
        order = sorted(leaves, key=lambda leaf: cheapest[leaf])
        assert cheapest[batch[0]] == pytest.approx(cheapest[order[0]])
    plies = [len(batch) for *_, batch in batches]
    assert plies[0] == 1


# Playing from it


def with_best(book, move, path):
    """Write the book again, so that a move of the start seems best by far; return it."""
    game, estimates = book.game, dict(book.file.estimates)
    for one in game.generate_moves(game.start):
        child = game.write(game.canonical(game.do_move(game.start, one)))
        estimates[child] = -90 if one == move else 90
    write_estimates(path, book.file.origin, book.file.start, estimates)
    return open_estimates(path, game)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("text", thorough_but(["dodgem:5", LARGE], "dodgem:5"))
def test_players_play_from_the_book_and_search_beyond_it(home, text, last):
    game = load_game(text)
    path = estimates_path(variant(game))
    moves = list(game.generate_moves(game.start))
    move = moves[-last]
    with_best(book_of(game, path, 1, 2), move, path)
    oracle = searching_oracle(game, 0.05)
    player, plain = (make_player(name, oracle, Random(1)) for name in ("depth:3,book", "depth:3"))
    assert player(oracle, game.start) == move
    # One ply on, the book has no moves, and both players are the same but for the random generator.
    beyond = game.do_move(game.start, move)
    assert oracle.estimates.moves(beyond) == {}
    scores = dict(ValueSearch(game).scores(beyond, 3))
    assert scores[player(oracle, beyond)] == scores[plain(oracle, beyond)] == max(scores.values())
    # The perfect player proves nothing there, and plays from the book.
    assert oracle.best(game.start)[0].move == move
    oracle.close()


def test_the_book_changes_nothing_that_is_proved(home):
    """A forged book says that the tie of tic-tac-toe is lost, and that the edges are the best moves."""
    game = load_game("tictactoe")
    path = estimates_path("tictactoe")
    book = book_of(game, path, 2, 2)
    forged = dict.fromkeys(book.file.estimates, 3 - FAR) | {game.write(one): FAR - 3 for one in children_of(game, 0)}
    write_estimates(path, book.file.origin, book.file.start, forged)
    with searching_oracle(game, 60) as oracle:
        assert oracle.estimate(game.start) == 3 - FAR
        unasked = oracle.probe(game.start, 0)
        assert (unasked.value, unasked.at_least, unasked.at_most) == (UNDECIDED, LOSE, WIN)
        answer = answer_of(oracle, game.start)
        assert (answer.bounds.value, answer.bounds.evidence.source) == (TIE, "search")
        assert answer.estimate is None and all(one.estimate is None for one in answer.moves)
        (kept,) = oracle.best(game.read("X../.../..."))
        assert kept.name == "b2"  # after a corner, only the centre keeps the tie
        found = answer.to_json()
        assert found["proved"] and "estimate" not in found


def test_answers_say_that_estimates_are_estimates(home):
    game = load_game("connect4")
    book = book_of(game, None, 2, 3)
    with searching_oracle(game, 0.05) as oracle:
        found = answer_of(oracle, game.start, 0.05).to_json()
        assert (found["value"], found["proved"], found["estimate"]) == (None, False, book.score(game.start))
        for move in found["moves"]:
            assert move["value"] is None and move["estimate"] == book.score(game.read(move["position"]))
        scores = [-move["estimate"] for move in found["moves"]]
        assert scores == sorted(scores, reverse=True) and scores[0] == found["estimate"]


def test_a_player_without_its_book_is_refused(home):
    told = retrograde("match", SMALL, "depth:2,book", "random", "--games", "1", "--time", "0.02", status=1).stderr
    assert "no book of estimates of draughts:MMvMM,rows=4; make it with: retrograde book" in told
    with pytest.raises(NoEstimates), searching_oracle(load_game(SMALL), 0.05) as oracle:
        make_player("time:0.1,book", oracle, Random(1))
    assert (
        "no model 'depth:2,book' of a player"
        in retrograde("match", SMALL, "depth:2,book", "random", "--exact", status=2).stderr
    )


# Files


def changed(facts, **changes):
    """Return the text of a file with other facts, of which the digest is right."""
    facts = {**facts, **changes}
    return json.dumps(facts | {"digest": digest_of_facts(facts)})


HOSTILE = {
    "nothing": lambda facts: "",
    "brackets": lambda facts: "[" * 100_000,
    "a list": lambda facts: "[1, 2]",
    "half": lambda facts: json.dumps(facts)[:-40],
    "another format": lambda facts: changed(facts, format="retrograde weights"),
    "a flipped digit": lambda facts: json.dumps(facts | {"depth": facts["depth"] + 1}),
    "no estimates": lambda facts: changed(facts, estimates={}),
    "a list of estimates": lambda facts: changed(facts, estimates=[1]),
    "a fraction": lambda facts: changed(facts, estimates=facts["estimates"] | {facts["start"]: 0.5}),
    "a truth": lambda facts: changed(facts, estimates=facts["estimates"] | {facts["start"]: True}),
    "too much": lambda facts: changed(facts, estimates=facts["estimates"] | {facts["start"]: 1 << 41}),
    "no start": lambda facts: changed(facts, start=None),
    "a name of numbers": lambda facts: changed(facts, game=[1]),
    "weights of text": lambda facts: changed(facts, weights="12"),
    "a list of most": lambda facts: changed(facts, most=[]),
    "too many plies": lambda facts: changed(facts, plies=1 << 40),
    "no depth": lambda facts: changed(facts, depth=0),
    "another game": lambda facts: changed(facts, game="dodgem"),
    "a strange game": lambda facts: changed(facts, game="\ud800\x1b[31m"),
    "other rules": lambda facts: changed(facts, rules="0" * 32),
    "not UTF-8": lambda facts: b"\xff\xfe{}",
}


def hostile(path, kind):
    """Put a hostile file of a kind in place of a book of estimates."""
    text = HOSTILE[kind](json.loads(path.read_text("utf-8")))
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_hostile_files_do_not_open(home):
    game = load_game(SMALL)
    path = make_estimates(game, EstimatesOptions(1, 1))
    content = path.read_bytes()
    for kind in HOSTILE:
        path.write_bytes(content)
        hostile(path, kind)
        with pytest.raises(WrongEstimates):
            open_estimates(path, game)


@pytest.mark.parametrize(
    "kind",
    thorough_but(HOSTILE, "nothing", "half", "a flipped digit", "no start", "too much", "other rules", "not UTF-8"),
)
def test_hostile_files_are_refused_in_one_line(home, kind):
    game = load_game(SMALL)
    path = make_estimates(game, EstimatesOptions(1, 1))
    hostile(path, kind)
    with pytest.raises(WrongEstimates):
        open_estimates(path, game)
    for command in (("verify", path), ("verify", SMALL), ("query", SMALL), ("match", SMALL, "depth:1,book", "random")):
        told = retrograde(*command, status=1).stderr.splitlines()
        assert len(told) == 1 and told[0].startswith("retrograde: error: "), told
    retrograde("list")
    assert len(retrograde("list", "--json").stdout.splitlines()) >= 1
    assert "make it again" in retrograde("query", SMALL, status=1).stderr
    made = retrograde("book", SMALL, "--plies", "1", "--depth", "1", "--fresh").stdout
    assert "nothing is proved" in made and open_estimates(path, game)


def forged(estimates, changes):
    """Return estimates with changes; None deletes one."""
    return {text: score for text, score in (estimates | changes).items() if score is not None}


def test_a_book_that_is_wrong_is_found_out(home):
    game = load_game(SMALL)
    path = estimates_path(variant(game))
    book = book_of(game, path, 6, 1, workers=2)
    start, right = book.file.start, book.file.estimates
    leaf = next(text for text in right if not book.moves(game.read(text)) and not game.primitive(game.read(text)))
    inner = next(text for text in right if text != start and book.moves(game.read(text)))
    child = game.write(children_of(game, game.start)[0])
    far = next(one for one in positions_within(game, 9) if game.write(one) not in right)
    wrongs = {
        "by its moves": {start: right[start] + 1},
        "by a search": dict.fromkeys([text for text in right if not book.moves(game.read(text))], 77),
        "leads to one that is not in the book": {child: None},
        "is not reached within 6 plies": {game.write(far): 0},
        "cannot be read": {"nonsense": 1},
        "is not written as the game writes it": {start.lower(): 1},
    }
    assert leaf and inner
    for complaint, changes in wrongs.items():
        write_estimates(path, book.file.origin, start, forged(right, changes))
        problems = verify_estimates(open_estimates(path, game)).problems
        assert any(complaint in problem for problem in problems), (complaint, problems)
        told = retrograde("verify", SMALL, status=1).stdout
        assert "wrong" in told
    end = next((text for text in right if game.primitive(game.read(text)) != UNDECIDED), None)
    if end:
        write_estimates(path, book.file.origin, start, right | {end: 5})
        assert any("is an end" in one for one in verify_estimates(open_estimates(path, game)).problems)
    other = book.file.origin.__class__(**{**vars(book.file.origin), "hints": "0" * 32})
    write_estimates(path, other, start, right)
    report = verify_estimates(open_estimates(path, game))
    assert (report.problems, report.searched, report.unsearched) == ([], 0, "the estimate has changed since")


# Making it


@pytest.mark.parametrize("most", [None, 120])
def test_a_killed_book_goes_on_and_has_the_same_bytes(home, monkeypatch, most):
    game = load_game("connect4")
    options = {"plies": 3, "depth": 1, "most": most}
    whole = make_estimates(game, EstimatesOptions(**options, workers=1), home / "whole.estimates.json").read_bytes()
    monkeypatch.setattr(estimating, "PAUSE", 0.0)

    class Killed(Exception):
        """The making has come so far."""

    def stop(progress):
        if progress.phase == "searching" and progress.done >= 64:
            raise Killed

    monkeypatch.setattr(estimating.Phase, "often", 0)
    path = home / "killed.estimates.json"
    with pytest.raises(Killed):
        make_estimates(game, EstimatesOptions(**options, workers=2, listener=stop), path)
    assert not path.exists()
    done = read_progress(home / "killed.estimates.json.journal")
    assert done.is_current and done.variant == "connect4" and 48 <= done.solved <= 80
    assert "positions of an opening book" in retrograde("list").stdout
    searched = []
    score = estimating.DepthSearchThreads.score
    monkeypatch.setattr(
        estimating.DepthSearchThreads, "score", lambda self, *asked: searched.append(asked) or score(self, *asked)
    )
    make_estimates(game, EstimatesOptions(**options, workers=2), path)
    assert path.read_bytes() == whole
    assert 0 < len(searched) <= len(read_estimates(path).estimates) - done.solved
    assert sorted(one.name for one in home.iterdir()) == ["killed.estimates.json", "whole.estimates.json"]


def test_the_journal_counts_positions_of_several_words_once(home):
    import numpy as np

    from retrograde.solver.play.oracles.book import BookMaker, BookOptions
    from retrograde.solver.runtime.journal import Journal

    path = home / "x.book.h5.journal"
    with Journal(path, "x y z") as journal:
        maker = BookMaker(load_game("hexapawn:3,11"), BookOptions(1), journal)
        assert maker.width == 2
        journal.append("searched", np.zeros(6, np.int64), np.zeros(3, np.uint8), np.zeros(3, np.int64))
    assert read_progress(path).solved == 3


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("mutorere", NoBook, "its rules define no estimate"),
        ("kalah:4,2", NotForSearch, "a book of estimates is for two players who alternate"),
        (str(ROOT / "tests" / "helpers" / "lead.py"), NoBook, "about values, not about points"),
        ("eightpuzzle", NotForSearch, "two players who alternate"),
    ],
)
def test_where_there_is_nothing_to_estimate_there_is_no_book(home, text, error, why):
    with pytest.raises(error, match=why):
        make_estimates(load_game(text), EstimatesOptions(1, 1))
    assert not list(home.iterdir())


# Commands


def test_commands_say_what_a_book_of_estimates_is(home):
    command = "book", "connect4", "--plies", "2", "--depth", "3"
    made = retrograde(*command).stdout
    assert "connect4: estimated as " in made and "nothing is proved" in made
    assert "a book of estimates of the first 2 plies: " in made and "by searches of 3 plies" in made
    assert "it was made before" in retrograde(*command).stdout
    assert "it was made before" not in retrograde(*command, "--positions", "9").stdout
    assert "a book of estimates of the best lines within the first 2 plies" in retrograde("list").stdout
    path = estimates_path("connect4")
    for source in ("connect4", path):
        assert "nothing is proved" in retrograde("info", source).stdout
        facts = json.loads(retrograde("info", source, "--json").stdout)
        assert facts["class"] == "estimates" and facts["estimates"] == {"plies": 2, "depth": 3, "most": 9}
        assert "value" not in facts["start"]
        assert "proven: nothing" in retrograde("verify", source).stdout
        assert json.loads(retrograde("verify", source, "--json").stdout)["ok"]
        assert "as it was written" in retrograde("verify", source, "--quick").stdout
    assert "not of dodgem" in retrograde("info", "dodgem", "--database", path, status=1).stderr
    for command in ("query", "export", "plot", "judge"):
        assert "is no database of retrograde" in retrograde(command, path, status=1).stderr
    assert "is of connect4, not of" in retrograde("remove", SMALL, "--database", path, status=1).stderr
    told = retrograde("query", "connect4", "--time", "0.02").stdout
    assert "by the book of estimates, which proves nothing" in told and "not known" in told
    played = retrograde("play", "connect4", "--first", "perfect", "--time", "0.02").stdout
    assert played.count("by the book of estimates, which proves nothing") >= 2
    asked = retrograde("play", "connect4", "--time", "0.02", input="?\nquit\n").stdout
    assert asked.count("by the book of estimates, which proves nothing") == 1
    told = retrograde("remove", path, input="y\n").stdout
    assert "the book of estimates" in told and not path.exists()


def test_options_for_proofs_and_for_estimates_do_not_mix(home):
    command = "book", SMALL, "--plies", "1"
    assert "not with --depth" in retrograde(*command, "--depth", "1", "--value-only", status=2).stderr
    assert "not with --depth" in retrograde(*command, "--depth", "1", "--table", "1G", status=2).stderr
    assert "--positions goes with --depth" in retrograde(*command, "--positions", "9", status=2).stderr
    assert "ends in .estimates.json" in retrograde(*command, "--depth", "1", "--database", "x.h5", status=2).stderr


def test_a_book_of_a_game_with_cycles_is_refused_though_the_first_search_ends_before_it_meets_one(home, monkeypatch):
    monkeypatch.setattr("retrograde.solver.play.oracles.book.FIRST_SECONDS", 1e-6)
    refused = retrograde("book", "dodgem:5", "--plies", "0", "--workers", "1", status=1)
    assert "its play can go round in circles" in refused.stderr and "to make one of estimates" in refused.stderr


def test_the_page_says_that_estimates_are_estimates(home):
    from retrograde.cli.web.view import show_position

    game = load_game("connect4")
    make_estimates(game, EstimatesOptions(1, 1))
    with searching_oracle(game, 0.05) as oracle:
        shown = show_position(oracle, game.start)
    assert shown.value is None and shown.known.startswith("not known, estimated as ")
    assert all(move.value is None and not move.best and "estimated as" in move.known for move in shown.moves)


def test_the_page_does_not_show_the_paths_of_damaged_books(home):
    pytest.importorskip("uvicorn")
    from retrograde.cli.web.app import status_of

    assert status_of(WrongEstimates("")) == 503
