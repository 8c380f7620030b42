"""Published sites: what is written, and in a real browser, against the answers of `serve`."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random
from urllib.parse import quote
from zipfile import ZipFile

import pytest

from retrograde.cli.web import view
from retrograde.cli.web.answers import answer_text
from retrograde.cli.web.published import site as site_module
from retrograde.cli.web.published import written
from retrograde.cli.web.published.python import write_rules
from retrograde.cli.web.published.site import publish
from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.compact.write import make_compact
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import HEAP, LATE, retrograde
from tests.helpers.disk import STREAM
from tests.helpers.hosting import Host
from tests.helpers.lacking import lacking
from tests.helpers.serving import client_of, fill, get, needs_browser, play_to_the_end

pytestmark = pytest.mark.long
ASK = """async (questions) => {
    const { ask } = await import(new URL("static/ask.js", location));
    return Promise.all(questions.map(([path, asked]) => ask(path, asked).catch((error) => ({ error: error.message }))));
}"""


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    return fill(tmp_path_factory.mktemp("home"), solved, ["hexapawn", "mutorere", "connect4:4,4", "nim3"])


@pytest.fixture(scope="module")
def published(home, tmp_path_factory):
    site = tmp_path_factory.mktemp("published") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(home))
        said = retrograde("publish", "hexapawn", "mutorere", "connect4:4,4", "nim3", "--to", site).stdout
    assert said.splitlines()[:3] == [
        "hexapawn: all 135 positions",
        "mutorere: all 1,180 positions",
        "connect4:width=4,height=4: the first moves of 161,029 positions; for all, run "
        "`npm pack pyodide@314.0.7` and add `--pyodide pyodide-314.0.7.tgz`",
    ]
    return site


@pytest.fixture
def site(home, published, tmp_path, monkeypatch):
    """A published site: the folder below the host's root, since that is where sites often lie."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    return shutil.copytree(published, tmp_path / "host" / "site")


@pytest.fixture
def page(browser, site):
    """A page of the site, whose complaints fail the test."""
    faults = []
    with Host(site.parent) as host:
        page = browser.new_page()
        page.set_default_timeout(1000 * LATE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto(f"{host.url}/site/")
        page.wait_for_selector(".card")
        yield page
        page.close()
    assert not faults


def test_a_site_has_every_position_of_a_small_game(site):
    folder = site / "games" / "mutorere"
    facts = json.loads((folder / "facts.json").read_text())
    files = [json.loads(gzip.decompress((folder / f"{i}.json.gz").read_bytes())) for i in range(len(facts["firsts"]))]
    texts = [one["position"] for file in files for one in file]
    assert facts["whole"] and len(set(texts)) == 1180 and texts == sorted(texts)
    assert [file[0]["position"] for file in files] == facts["firsts"]
    with open_solution("mutorere") as solution:
        for shown in Random(1).sample([one for file in files for one in file], 100):
            outcome = solution.value(solution.game.read(shown["position"]))
            assert (shown["value"], shown["remoteness"]) == (outcome.value.name.lower(), outcome.remoteness)
            assert bool(shown["moves"]) != shown["over"]


def test_a_site_holds_the_database_unchanged_and_nothing_of_the_server(site, home):
    for database in home.iterdir():
        assert (site / "databases" / database.name).read_bytes() == database.read_bytes()
    for text in ("index.html", "game.html"):
        page = (site / text).read_text()
        assert "Content-Security-Policy" in page and not re.search(r'(?:src|href)="/', page)
    assert "retrograde serve" not in (site / "static" / "backend.js").read_text()


def test_a_site_is_replaced_and_other_files_stay(site, home):
    (site / "CNAME").write_text("games.example")
    retrograde("publish", "mutorere", "--to", site)
    assert [one["variant"] for one in json.loads((site / "gallery.json").read_text())["cards"]] == ["mutorere"]
    assert {path.name for path in (site / "games").iterdir()} == {"mutorere"}
    assert (site / "CNAME").read_text() == "games.example"
    assert not list(site.glob(".publish*"))
    (site / "gallery.json").unlink()
    said = retrograde("publish", "mutorere", "--to", site, status=1).output
    assert "has files, and none of a published site; name a new or an empty folder" in said


def test_what_cannot_be_published_is_said(tmp_path, home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    assert "no database for nim" in retrograde("publish", "nim", "--to", tmp_path / "site", status=1).output
    twice = retrograde("publish", "mutorere", "mutorere", "--to", tmp_path / "site", status=2).output
    assert "mutorere is given twice" in twice
    assert not (tmp_path / "site").exists()


def test_a_game_of_ones_own_is_published(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heap.py").write_text(HEAP)
    retrograde("solve", "./heap.py")
    assert retrograde("publish", "./heap.py", "--to", "site").stdout.startswith("heap: all ")
    (card,) = json.loads((tmp_path / "site" / "gallery.json").read_text())["cards"]
    assert card["title"] == "Heap" and card["summary"] and card["start"]["value"] == "win"


@needs_browser
def test_a_site_answers_as_the_server_does(page, home):
    chance, client = Random(2), client_of()
    with client:
        for variant in ("hexapawn", "mutorere"):
            with open_solution(variant) as solution:
                places = written.first_positions(solution, written.MOST)
                texts = [solution.game.write(place) for place in chance.sample(places, 60)]
            ask(page, client, [("position", {"variant": variant, "position": text, "line": True}) for text in texts])
            ask(page, client, [("database", {"variant": variant}), ("game", {"variant": variant})])
        game = {"variant": "hexapawn", "position": "OOO/.X./X.X/O", "moves": "a1-b2,c3-b2,zz"}
        (told,) = page.evaluate(ASK, [["game", game]])
        expected = get(client, "/api/game", **game)
        assert (
            told["problem"].startswith("move 3, 'zz', cannot be made")
            and expected["problem"][:12] == told["problem"][:12]
        )
        assert without_reply(told | {"problem": ""}) == without_reply(expected | {"problem": ""})
        ask(page, client, [
            ("board", {"variant": "hexapawn"}),
            ("scorecard", {"variant": "hexapawn", "position": "OOO/.../XXX/X", "moves": "a3-a2,b1-a2,b3-a2,c1-c2"}),
            ("setup", {"variant": "hexapawn", "pieces": "OOO.X.X.X", "turn": "O"}),
            ("reply", {"variant": "hexapawn", "position": "OOO/X../.XX/O", "skill": 1}),
            ("position", {"variant": "connect4:width=4,height=4", "position": "..../..../..../XO..", "line": True}),
            ("game", {"variant": "nim3", "moves": "7>6,6>4,4>3,3>2,2>0"}),
            ("scorecard", {"variant": "nim3", "position": "7,1", "moves": "7>6,6>5,5>3,3>2,2>0"}),
        ])  # fmt: skip
    wrong = [["setup", {"variant": "hexapawn", "pieces": "XXX......", "turn": "X"}], ["game", {"variant": "chess"}],
             ["position", {"variant": "hexapawn", "position": "XXX/.../.../X"}]]  # fmt: skip
    errors = [one["error"] for one in page.evaluate(ASK, wrong)]
    assert errors[:2] == ["such a position cannot be reached from the start", "chess is not published here"]
    assert errors[2].startswith("no such position; write it as this page does")


def ask(page, client, questions):
    """Ask the site and the server the same questions, and compare the answers."""
    for (path, asked), told in zip(questions, page.evaluate(ASK, questions), strict=True):
        assert without_reply(told) == get(client, f"/api/{path}", **asked), (path, asked)


def without_reply(told):
    """Return an answer without the reply of a perfect player, which only sites have beforehand."""
    if isinstance(told, dict) and "last" in told:
        return told | {"last": without_reply(told["last"])}
    return {key: item for key, item in told.items() if key != "reply"} if isinstance(told, dict) else told


@needs_browser
@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["hexapawn", "mutorere"])
def test_a_published_game_is_played_to_its_end(page, variant):
    page.locator(f"[data-variant='{variant}'] a").click()
    page.locator("#line-on").click()
    page.wait_for_function("() => document.querySelector('#status').textContent.startsWith('Best play, ply 1 of ')")
    with page.expect_download() as download:
        page.locator("#facts a").click()
    assert Path(download.value.path()).read_bytes()[1:4] == b"HDF"
    page.locator("#line-back").click()
    play_to_the_end(page)
    page.wait_for_selector("#card li")
    assert "perfect" in page.locator("#card h2").text_content()
    page.reload()  # the address holds the game
    page.wait_for_selector("#card li")
    page.locator("#home").click()
    page.wait_for_selector(".card")


@needs_browser
@pytest.mark.thorough
def test_random_positions_of_a_site_are_such_that_the_game_goes_on(page):
    questions = [["position", {"variant": variant, "position": "random"}] for variant in ["hexapawn", "nim3"] * 60]
    assert not any(told["over"] for told in page.evaluate(ASK, questions))
    page.goto(f"{page.url}game.html?v=hexapawn&p=.../.OO/.../X")
    page.wait_for_selector("#over:not([hidden])")
    assert page.locator("#status").text_content().strip().startswith("Black has won")
    assert [page.locator(f"#{side}-name").text_content() for side in ("first", "second")] == ["White", "Black"]


@needs_browser
@pytest.mark.thorough
def test_seats_of_several_players_are_right_in_a_game_from_a_link(page):
    here = page.url
    page.goto(f"{here}game.html?v=nim3&m=7>6,6>4,4>3&second=human")
    page.wait_for_selector("#moves button[aria-disabled=false]")
    assert page.locator("#status").text_content().strip().startswith("Player 3 plays 4>3. Player 1 to move")
    page.goto(f"{here}game.html?v=nim3&m=7>6,6>4")  # the computer has both other seats, and moves on
    page.wait_for_function("() => document.title.includes('move 3: Player 1 to move')")


# Python in the browser

IN_BROWSER = """
import json, sys
folder = sys.argv[1]
sys.path.insert(0, f"{folder}/rules")
import absent
absent.PACKAGES = tuple(name for name in absent.PACKAGES if name != "zstandard")  # Pyodide has its own
absent.install()
from retrograde.cli.web.published.browser import PublishedSite
absent.seal()

class Content(bytes):
    def to_bytes(self):
        return bytes(self)

def read(path, begin=None, end=None):
    try:
        with open(f"{folder}/site/{path}", "rb") as file:
            return Content(file.read()[begin:end])
    except OSError:
        return None

site = PublishedSite(read)
print(json.dumps([site.answer(path, json.dumps(asked)) for path, asked in json.load(sys.stdin)]))
"""
"""What worker.js does, where packages that a browser lacks are here, but must not be used."""


@pytest.fixture
def few_written(monkeypatch):
    """Publish games with hardly any answers written beforehand, so that Python answers, and reads by ranges."""
    monkeypatch.setattr(written, "MOST", 4)
    monkeypatch.setattr(written, "FIRST", 3)
    monkeypatch.setattr(site_module, "WHOLE", 0)


def questions_about(solution, count):
    """Return questions of the page about positions met by chance, and the answers of the server's code."""
    chance, game, questions, answers = Random(5), solution.game, [], []
    for _ in range(count):
        position = random_position(solution, chance) if solution.start is None else solution.start
        for _ in range(chance.randrange(12)):
            if game.primitive(position) == UNDECIDED:
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
        text = game.write(position)
        shown = view.show_position(solution, view.position_in(solution, text), True)
        questions.append(("position", {"variant": solution.variant, "position": text, "line": True}))
        answers.append(json.loads(answer_text(shown)))
        if shown.moves and solution.metric == "remoteness":
            moves = ",".join(quote(name, safe="") for name in shown.line[:3])
            questions.append(("game", {"variant": solution.variant, "position": text, "moves": moves}))
            answers.append(json.loads(answer_text(view.show_game(solution, position, shown.line[:3], text))))
            questions.append(("scorecard", {"variant": solution.variant, "position": text, "moves": moves}))
            answers.append(json.loads(answer_text(view.scorecard(solution, position, shown.line[:3]))))
    return questions, answers


def storages(solved, folder):
    """Put databases of all kinds of storage into the home, and return their variants."""
    fill(folder, solved, ["connect4:4,4", "chess:KRK", "chess:KK", "chess:KPK", "mutorere", "pig:10"])
    solve(load_game("connect4:4,3"), sizes=STREAM, method="streamed")
    solve(load_game("piglet:2"), method="numbered")
    with open_database(solved("chess:KRK")) as database:
        (folder / "chess,KRK.h5").unlink()
        make_compact(database, folder / "chess,KRK.h5")
    for path in map(solved, ("chess:KQK", "chess:KNK", "chess:KBK")):
        shutil.copy(path, folder)
    fill(folder, lambda text: solved(text, "score"), ["hexapawn"])
    (folder / "hexapawn@score.h5").rename(folder / "hexapawn.h5")
    return ["connect4:4,4", "chess:KRK", "chess:KPK", "mutorere", "pig:10", "connect4:4,3", "piglet:2", "hexapawn"]


@pytest.mark.thorough
def test_python_answers_in_the_browser_as_the_server_does(tmp_path, monkeypatch, solved, few_written):
    variants = ["connect4:4,4", "mutorere", "pig:10"]
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, variants)))
    monkeypatch.setattr(site_module, "write_python", lambda *_: None)
    questions, answers = [], []
    with ExitStack() as stack:
        solutions = [stack.enter_context(open_solution(variant)) for variant in variants]
        assert [*publish(solutions, tmp_path / "site", tmp_path)]
        for solution in solutions:
            more = questions_about(solution, 20)
            questions += more[0]
            answers += more[1]
    write_rules(tmp_path / "rules.zip")
    ZipFile(tmp_path / "rules.zip").extractall(tmp_path / "rules")
    questions += [("pgn", {"variant": "mutorere", "first": "?", "second": "?", "finished": False})]
    command = [sys.executable, "-P", "-c", IN_BROWSER, str(tmp_path)]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 0, done.stderr
    *told, (refused, status) = json.loads(done.stdout)
    for question, (text, _), answer in zip(questions, told, answers, strict=False):
        assert json.loads(text) == answer, question
    assert len(told) == len(answers)
    assert (json.loads(refused), status) == ("games of mutorere cannot be written as PGN", 404)


def test_another_pyodide_is_refused(tmp_path, home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    (tmp_path / "pyodide").mkdir()
    to = ("--to", tmp_path / "site", "--pyodide", tmp_path / "pyodide")
    assert "is not Pyodide 314.0.7" in retrograde("publish", "mutorere", *to, status=1).output
    (tmp_path / "pyodide" / "pyodide.mjs").write_text("export {}")
    said = retrograde("publish", "mutorere", *to, status=1).output
    assert "pyodide.mjs in" in said and "is not that of Pyodide 314.0.7; get it with: npm pack" in said
    assert not (tmp_path / "site").exists()


@pytest.fixture(scope="module")
def pyodide():
    """The npm package of Pyodide, which is no Python package."""
    if not (path := os.environ.get("RETROGRADE_PYODIDE")):
        lacking("RETROGRADE_PYODIDE does not name a copy of Pyodide")
    return path


@needs_browser
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("some", "count"), [(["connect4:4,4", "pig:10"], 10), pytest.param([], 125, marks=pytest.mark.slow)]
)
def test_a_browser_answers_as_the_server_does(
    browser, pyodide, solved, tmp_path, monkeypatch, few_written, some, count
):
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, some)))
    variants = some or storages(solved, tmp_path)
    retrograde("publish", *variants, "--to", tmp_path / "site", "--pyodide", pyodide)
    with Host(tmp_path / "site") as host:
        page = browser.new_page()
        page.set_default_timeout(1000 * LATE)
        for variant in variants:
            with open_solution(variant) as solution:
                questions, answers = questions_about(solution, count)
                page.goto(f"{host.url}/game.html?v={solution.variant}")
            told = page.evaluate(ASK, questions)
            for question, one, answer in zip(questions, told, answers, strict=True):
                assert without_reply(one) == answer, question
        page.close()


@needs_browser
@pytest.mark.thorough
def test_a_game_is_played_to_its_end_with_python_from_a_host_without_ranges(
    browser, pyodide, solved, tmp_path, monkeypatch, few_written
):
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, ["connect4:4,4"])))
    retrograde("publish", "connect4:4,4", "--to", tmp_path / "site", "--pyodide", pyodide)
    with Host(tmp_path / "site", ranges=False) as host:
        page = browser.new_page()
        page.set_default_timeout(1000 * LATE)
        page.goto(f"{host.url}/game.html?v=connect4:width=4,height=4")
        play_to_the_end(page)
        assert (
            "A tie" in page.locator("#status").text_content() or "Red has won" in page.locator("#status").text_content()
        )
        page.close()


SHOUT = """async () => {
    const [name] = await caches.keys();
    const cache = await caches.open(name);
    const [key] = await cache.keys();
    const image = new Uint8Array(await (await cache.match(key)).arrayBuffer());
    const [from, to] = ["cannot", "CANNOT"].map((text) => new TextEncoder().encode(`${text} be written as PGN`));
    let places = 0;
    for (let at = image.indexOf(from[0]); at >= 0; at = image.indexOf(from[0], at + 1)) {
        if (!from.every((byte, i) => image[at + i] === byte)) continue;
        image.set(to, at);
        places += 1;
    }
    await cache.put(key, new Response(image));
    return places;
}"""
"""Change a text of Python in the image that the browser keeps, and return in how many places."""
SPOIL = """async () => {
    const cache = await caches.open((await caches.keys())[0]);
    await cache.put((await cache.keys())[0], new Response(new Uint8Array(1000)));
}"""
KEPT = "async () => (await (await caches.open((await caches.keys())[0])).keys()).map(({ url }) => url)"


@needs_browser
@pytest.mark.thorough
def test_the_next_visit_starts_from_an_image_of_pythons_memory(
    browser, pyodide, solved, tmp_path, monkeypatch, few_written
):
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, ["connect4:4,4"])))
    retrograde("publish", "connect4:4,4", "--to", tmp_path / "site", "--pyodide", pyodide)
    with open_solution("connect4:4,4") as solution, browser.new_context() as visitor, Host(tmp_path / "site") as host:
        questions, answers = questions_about(solution, 10)
        refused = ("pgn", {"variant": solution.variant, "first": "?", "second": "?", "finished": False})

        def visit():
            page = visitor.new_page()
            page.set_default_timeout(1000 * LATE)
            page.goto(f"{host.url}/game.html?v={solution.variant}")
            *told, said = page.evaluate(ASK, [*questions, refused])
            for question, one, answer in zip(questions, told, answers, strict=True):
                assert without_reply(one) == answer, question
            page.wait_for_function(f"async () => (await ({KEPT})()).length")
            return page, said["error"]

        page, said = visit()
        assert said == "games of connect4 cannot be written as PGN"
        (kept,) = page.evaluate(KEPT)
        assert page.evaluate(SHOUT) > 0
        page, said = visit()
        assert said == "games of connect4 CANNOT be written as PGN"
        # An image that is of no use is replaced, and so is that of other modules.
        page.evaluate(SPOIL)
        _, said = visit()
        assert said == "games of connect4 cannot be written as PGN"
        with ZipFile(tmp_path / "site" / "python" / "rules.zip", "a") as rules:
            rules.writestr("more.py", "")
        page, said = visit()
        assert said == "games of connect4 cannot be written as PGN"
        page.wait_for_function(f"async (kept) => !(await ({KEPT})()).includes(kept)", arg=kept)
        assert len(page.evaluate(KEPT)) == 1


def test_what_cannot_be_published_leaves_no_folder_and_commands_are_quoted(tmp_path, home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    said = retrograde("publish", "http://127.0.0.1:9/nim.h5", "--to", tmp_path / "s", status=1).stderr
    assert "first fetch it with: retrograde fetch http://127.0.0.1:9/nim.h5" in said
    (tmp_path / "some.py").touch()
    retrograde("publish", "hexapawn", "--to", tmp_path / "new" / "s", "--pyodide", tmp_path / "some.py", status=1)
    assert not (tmp_path / "s").exists() and not (tmp_path / "new").exists()
    said = retrograde("publish", "hexapawn", "--to", tmp_path / "s 5").stdout
    assert f"--directory '{tmp_path / 's 5'}'  (browsers" in said


@needs_browser
def test_a_published_ending_writes_games_as_the_server_does(browser, tmp_path, solved, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(fill(tmp_path, solved, ["chess:KQK", "chess:KK"])))
    with open_solution("chess:KQK") as solution:
        position = solution.game.read("8/8/8/3k4/8/8/1Q6/K7 b - - 0 1")
        line = solution.line(position)
        start, mate = solution.game.write(position), [choice.name for choice in line]
        monkeypatch.setattr(written, "first_positions", lambda *_: [position, *(choice.position for choice in line)])
        assert not next(iter([*publish([solution], tmp_path / "host" / "site")])).whole
        games = [(mate, True, 0), (mate[:-1], False, 0), (mate[:-1], True, 99), ([], False, 0), (mate[:2], False, 7)]
        asked = [
            {"moves": ",".join(moves), "finished": finished, "count": count}
            | {"variant": "chess:KQK", "position": start, "first": 'A "x"', "second": "B"}
            for moves, finished, count in games
        ]
        told = [
            view.pgn(solution, position, moves, ('A "x"', "B"), finished, count) for moves, finished, count in games
        ]
    with Host(tmp_path / "host") as host:
        page = browser.new_page()
        page.goto(f"{host.url}/site/")
        page.wait_for_selector(".card")
        assert page.evaluate(ASK, [["pgn", one] for one in asked]) == told
        assert page.evaluate(ASK, [["position", {"variant": "chess:KQK"}]])[0]["pgn"]
        page.goto(f"{host.url}/site/game.html")
        page.wait_for_selector(".card")  # no game is named: all are shown
        page.close()
