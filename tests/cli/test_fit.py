"""`retrograde fit`, and the commands that read the weights that it stores."""

import json
from pathlib import Path

import pytest

from retrograde.databases.location import weights_path
from retrograde.games.catalog import load_game
from retrograde.solver.play import judging
from retrograde.solver.play.weights import WrongWeights, load_weights, read_weights
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT

LEAD = f"{ROOT / 'tests' / 'helpers' / 'lead.py'}"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a database of `lead`, of which the weights are wrong, and with a file of better ones elsewhere."""
    folder = tmp_path_factory.mktemp("fit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(folder))
        retrograde("solve", LEAD)
        yield folder


@pytest.fixture(scope="module")
def better(home):
    """The file of better weights, as `fit` writes it."""
    path = home / "mine.json"
    text = retrograde("fit", LEAD, "--positions", 1000, "--weights", path).output
    assert "weights by score: 100, 200\n" in text and str(path) in text
    return path


@pytest.fixture
def in_the_usual_place(better, home):
    """The same weights, beside the database for as long as a test runs."""
    path = weights_path("lead")
    assert path == home / "lead.weights.json"
    path.write_bytes(better.read_bytes())
    yield path
    path.unlink()


def errors(*options):
    """Return the error rate of a search two plies deep."""
    return json.loads(retrograde("judge", LEAD, "--depth", 2, "--json", *options).stdout)["errors"][1]["own"]


def points(*options):
    """Return the points and mistakes of a player who looks two plies ahead."""
    told = retrograde("match", LEAD, "depth:2", "perfect", "--games", 4, "--json", *options).stdout
    return [json.loads(told)["players"][0][key] for key in ("points", "mistakes")]


def test_the_file_says_how_it_was_made(better):
    facts = json.loads(better.read_text("utf-8"))
    assert facts["weights"] == [100, 200] and facts["game"] == facts["from"] == "lead" and facts["target"] == "score"
    assert facts["positions"] > 40 and facts["judged"] > 10 and len(facts["date"]) == 10
    assert all(before > 0.25 and after == 0 for before, after in facts["errors"].values())


@pytest.mark.thorough
def test_each_command_reads_the_weights_of_a_file(better):
    assert errors() > 0.25 > errors("--weights", better) == 0
    assert points()[1] > 0 == points("--weights", better)[1]
    play = "play", LEAD, "--first", "depth:2", "--second", "first"
    assert "1. 1  first player" in retrograde(*play).output
    assert "1. 2  first player" in retrograde(*play, "--weights", better).output
    exact = "match", LEAD, "depth:2", "perfect", "--exact", "--json"
    plain, fitted = (json.loads(retrograde(*exact, *rest).stdout) for rest in ((), ("--weights", better)))
    assert plain["expectation"] < fitted["expectation"] == 0


@pytest.mark.long
def test_commands_find_the_weights_beside_the_databases(in_the_usual_place, monkeypatch):
    from retrograde.cli.web.library import Library

    monkeypatch.setattr(judging, "counts_of", lambda *_: iter(()))  # what it counts with is compiled by no other test
    assert errors() == 0 == points()[1]
    library = Library([LEAD])
    assert library.oracle("lead").game.feature_weights == (100, 200)
    library.close()
    in_the_usual_place.write_text("{}")
    library = Library([LEAD])  # the page goes on without them
    assert library.oracle("lead").game.feature_weights == (-100, 50)
    library.close()


def test_fit_stores_where_commands_look_and_says_if_it_stores_nothing(home):
    told = json.loads(retrograde("fit", LEAD, "--positions", 1000, "--json").stdout)
    assert told["weights"] == [100, 200] and Path(told["file"]) == home / "lead.weights.json"
    assert load_weights(load_game(LEAD)).feature_weights == (100, 200)
    weights_path("lead").unlink()
    assert load_weights(load_game(LEAD)).feature_weights == (-100, 50)


@pytest.mark.long
def test_engines_search_endings_with_their_weights(home):
    from retrograde.cli.uci.searches import compiled_oracle
    from retrograde.games.chess import Chess
    from retrograde.solver.play.weights import write_weights

    weights = tuple(range(len(Chess("KRK").feature_weights)))
    write_weights(weights_path("chess:KRK"), Chess("KRK"), weights, {})
    oracle = compiled_oracle("KRK", 16)
    assert oracle.game.feature_weights == weights
    oracle.close()
    weights_path("chess:KRK").unlink()


WRONG = {
    "no file": (None, "cannot read weights from"),
    "not JSON": ("weights", "has no weights, or is damaged"),
    "brackets": ("[" * 100_000, "has no weights, or is damaged"),
    "a list": ([1, 2], "has no weights, or is damaged"),
    "another file": ({"format": "other"}, "has no weights, or is damaged"),
    "another game": ({"game": "draughts"}, "are of draughts, and not of lead"),
    "other rules": ({"rules": "0" * 32}, "are of other rules or features of lead"),
    "other features": ({"features": "0" * 32}, "are of other rules or features of lead"),
    "fewer weights": ({"weights": [1]}, "has 1 weights, not 2"),
    "no numbers": ({"weights": [1, "2"]}, "has no weights, or is damaged"),
    "large numbers": ({"weights": [1, 1 << 40]}, "has no weights, or is damaged"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_and_stale_files_are_refused_in_one_line(better, tmp_path, kind):
    change, complaint = WRONG[kind]
    path = tmp_path / "wrong.json"
    if isinstance(change, dict):
        change = json.loads(better.read_text("utf-8")) | change
    if change is not None:
        path.write_text(change if isinstance(change, str) else json.dumps(change))
    for command in (("judge", LEAD), ("match", LEAD, "depth:1", "random"), ("play", LEAD)):
        told = retrograde(*command, "--weights", path, status=1).output
        assert complaint in told and "fit them again with: retrograde fit " in told and len(told.splitlines()) == 1
    with pytest.raises(WrongWeights, match=complaint):
        read_weights(path, load_game(LEAD))


def test_what_cannot_be_fitted_is_refused(home):
    assert "tictactoe" in retrograde("solve", "tictactoe").output
    assert "tictactoe has no features" in retrograde("fit", "tictactoe", status=1).output
    assert "has other features" in retrograde("fit", "othello", "--from", LEAD, status=1).output
    told = retrograde("fit", LEAD, "--positions", 1000, "--weights", home / "lead.h5" / "x", status=1).output
    assert "cannot write" in told and len(told.splitlines()) == 1


def test_a_file_that_cannot_be_written_is_refused_before_the_fit(home, monkeypatch):
    def never(*_):
        raise AssertionError("the fit has begun")

    monkeypatch.setattr("retrograde.solver.play.fitting.fit", never)
    (home / "a folder").mkdir()
    (home / "a file").touch()
    for path in (home / "a folder", home / "a file" / "mine.json", home / "a file" / "new" / "mine.json"):
        told = retrograde("fit", LEAD, "--positions", 1000, "--weights", path, status=1).stderr
        assert told == f"retrograde: error: cannot write {str(path)!r}; name another file with --weights\n"
