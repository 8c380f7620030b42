"""Games of chance, puzzles, scores and several players at the server: what is told of them, and how they look."""

import re
from functools import partial

import pytest

pytest.importorskip("fastapi")

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.solver.play.match import points_of
from retrograde.solver.play.solution import Solution
from tests.helpers.serving import Server, client_of, fill, get, needs_browser, play_to_the_end
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

VARIANTS = ["ur:1", "pig:target=5", "hanoi:disks=3", "eightpuzzle:2,2", "nim3", "dotsandboxes:1,2", "nim", "yahtzee:1"]
"""By expectation, of two and of one; puzzles; utilities; scores that moves pay; nimbers."""
THROW = {0: 1, 1: 4, 2: 6, 3: 4, 4: 1}
"""Of 16 throws of four dice with two faces, how many come to what."""


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    return fill(tmp_path_factory.mktemp("home"), solved, VARIANTS)


@pytest.fixture
def client(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    return client_of()


@pytest.mark.thorough
def test_what_dice_may_bring_is_told_with_odds_and_expectations(client, solved):
    told = get(client, "/api/position", variant="ur:1")
    assert (told["seats"], told["metric"], told["chance"]) == ("two", "expectation", True)
    assert {int(move["name"]): move["odds"] for move in told["moves"]} == {
        throw: f"{weight} in 16" for throw, weight in THROW.items()
    }
    mean = sum(THROW[int(move["name"])] * float(move["worth"]) for move in told["moves"]) / 16
    assert told["expected"] == pytest.approx(mean, abs=1e-5)
    assert told["measure"] == f"wins {50 * (1 + told['expected']):.1f} % of games"
    with Solution(open_database(solved("ur:1"))) as solution:
        assert told["expected"] == solution.worth(solution.start)["expectation"]
    game = get(client, "/api/game", variant="ur:1", moves="3,in-3,2")
    assert [step["chance"] for step in game["steps"]] == [True, False, True, False]
    assert game["players"] == ["Light", "Dark"] and not game["problem"]
    # Dark is to move with a 2 thrown; what it expects, Light does not
    assert [step["side"] for step in game["steps"]] == [0, 0, 0, 1]
    assert game["last"]["moves"][0]["name"] == "in-2"


@pytest.mark.thorough
def test_the_server_rolls_by_the_odds(client):
    start = get(client, "/api/position", variant="ur:1")["position"]
    throws = [int(get(client, "/api/reply", variant="ur:1", position=start, seed=seed)["name"]) for seed in range(400)]
    for throw, weight in THROW.items():
        assert throws.count(throw) == pytest.approx(25 * weight, abs=35)  # some four standard deviations and more
    assert throws == [
        int(get(client, "/api/reply", variant="ur:1", position=start, skill=0, seed=seed)["name"])
        for seed in range(400)
    ]


def test_moves_that_pay_are_told_to_who_makes_them_first(client):
    game = load_game("dotsandboxes:1,2")
    moves, position, told = [], game.start, get(client, "/api/position", variant="dotsandboxes:1,2")
    sides, points = [0], [0, 0]
    while not told["over"]:
        choice = told["moves"][0]
        move = game.move(position, choice["name"])
        for who, paid in enumerate(choice["paid"]):
            points[sides[-1] if who == 0 else 1 - sides[-1]] += paid
        moves.append(move)
        position = game.do_move(position, move)
        sides.append(sides[-1] if choice["again"] else 1 - sides[-1])
        told = get(client, "/api/position", variant="dotsandboxes:1,2", position=game.write(position))
    for who, paid in enumerate(told["paid"]):
        points[sides[-1] if who == 0 else 1 - sides[-1]] += paid
    assert tuple(points) == points_of(game, game.start, moves) and sum(points) == 2
    names = ",".join(game.move_name(at, move) for at, move in zip(walk(game, moves), moves, strict=False))
    played = get(client, "/api/game", variant="dotsandboxes:1,2", moves=names)
    assert [step["side"] for step in played["steps"]] == sides
    assert sum(map(sum, (step["paid"] for step in played["steps"]))) + sum(told["paid"]) == 2
    assert get(client, "/api/position", variant="hanoi:disks=3")["moves"][0]["paid"] == []


def walk(game, moves):
    """Yield the positions of a game, from the start on."""
    position = game.start
    for move in moves:
        yield position
        position = game.do_move(position, move)


def test_the_front_tells_what_the_metric_does(client):
    cards = {card["variant"]: card for card in get(client, "/api/gallery")["cards"] if card["solved"]}
    ur = cards["ur"]
    assert ur["longest_win"] is None and ur["start"]["metric"] == "expectation"
    assert re.fullmatch(r"0\.0\d{2,3}", ur["start"]["measure"])
    assert (cards["hanoi:disks=3"]["seats"], cards["nim3"]["seats"]) == ("one", "several")
    assert cards["hanoi:disks=3"]["start"] == {
        "value": "win", "remoteness": 7, "metric": "remoteness", "measure": ""
    }  # fmt: skip
    assert cards["nim"]["start"]["measure"] == "*2"


def test_gamescrafters_are_told_what_their_api_has_words_for(client):
    games = {game["id"]: game["type"] for game in get(client, "/")}
    assert games == {"hanoi": "onePlayer", "eightpuzzle": "onePlayer", "dotsandboxes": "twoPlayer", "nim": "twoPlayer"}
    get(client, "/ur/", 404)
    told = get(client, "/dotsandboxes/")
    assert told["supportsWinBy"] and not get(client, "/nim/")["supportsWinBy"]
    path = f"/dotsandboxes/{told['variants'][0]['id']}"
    start = get(client, f"{path}/")["startPosition"]
    position = get(client, f"{path}/positions/", p=start)
    assert position["winby"] == 0 and "drawLevel" not in position
    numbers = set()
    for move in position["moves"]:
        child = get(client, f"{path}/positions/", p=move["position"])
        assert move["winby"] == child["winby"]
        numbers |= {further["winby"] for further in child["moves"]}
    assert -2 in numbers


# The fifty-move rule

LATE = "8/8/8/8/8/2k5/1R6/K7 w - - 90 60"
"""A win, but not within ten plies."""
BARE = LATE.removesuffix(" - - 90 60")


@pytest.fixture(scope="module")
def by_the_rule(solved, tmp_path_factory):
    """A folder of endings with their distances to zeroing beside them."""
    folder = fill(tmp_path_factory.mktemp("zeroing"), solved, ["chess:KRK"])
    copy_whole(solved("chess:KRK", "dtz"), folder)
    return folder


def test_the_count_of_the_fifty_move_rule_goes_along(by_the_rule, home, client, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(by_the_rule))
    client = client_of()
    ask = partial(get, client, "/api/position", variant="chess:KRK")
    assert (ask(position=BARE)["value"], ask(position=BARE)["count"], ask(position=BARE)["without"]) == ("win", 0, "")
    told = ask(position=LATE)
    assert (told["value"], told["remoteness"], told["count"]) == ("draw", None, 90)
    assert re.fullmatch(r"win in \d+ plies \(mate in \d+\)", told["without"])
    assert told == ask(position=BARE, count=90)
    assert {move["value"] for move in told["moves"]} == {"draw"} and {move["count"] for move in told["moves"]} == {91}
    # Black takes the rook: progress
    taken = ask(position="8/8/8/8/8/2k5/2R5/K7 b", count=90)
    assert {move["name"]: move["count"] for move in taken["moves"]}["Kxc2"] == 0
    game = get(client, "/api/game", variant="chess:KRK", position=LATE, moves="Rb1,Kc2")
    assert [step["count"] for step in game["steps"]] == [90, 91, 92] and game["start"] == LATE
    assert [step["value"] for step in game["steps"]] == ["draw"] * 3
    marks = get(client, "/api/scorecard", variant="chess:KRK", position=BARE, moves="Rb1", count=90)
    assert marks[0]["value"] == marks[0]["best_value"] == "draw"
    near = {"position": "7k/8/5K2/8/8/8/8/6R1 w", "variant": "chess:KRK"}
    assert get(client, "/api/reply", **near, count=90)["name"] == get(client, "/api/reply", **near)["name"]
    pgn = client.get("/api/pgn", params={"variant": "chess:KRK", "position": BARE, "moves": "Rb1", "count": 90})
    assert f'[FEN "{BARE} - - 90 1"]' in pgn.text
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    assert get(client_of(), "/api/position", variant="hanoi:disks=3", count=5)["count"] is None


# The page


@pytest.fixture(scope="module")
def url(home):
    server = Server(home)
    yield server.url
    server.stop()


@pytest.fixture
def page(url, browser):
    page, faults = browser.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.base = url
    yield page
    page.close()
    assert not faults


def opened(page, query):
    page.goto(f"{page.base}?v={query}")
    page.wait_for_selector("#board svg")
    return page.locator("#status").text_content().strip()


def waits(page, pattern):
    """Wait until the status matches, and return it."""
    page.wait_for_function(f"() => /{pattern}/.test(document.querySelector('#status').textContent)")
    return page.locator("#status").text_content().strip()


@pytest.mark.thorough
@needs_browser
def test_dice_are_thrown_on_the_page_or_chosen_by_hand(page):
    opened(page, "ur:1")
    said = waits(page, "you win")  # the dice have been thrown, if it was a 0 for the other side as well
    assert re.search(r"Chance: [0-4]\.", said) and re.search(r"Light to move: you win \d+\.\d % of games\.", said)
    page.locator("#history .point").first.click()  # back to the throw, where the game waits
    assert waits(page, "Chance decides").startswith("Chance decides: Light wins 5")
    assert page.locator("#moves .odds").all_text_contents() == [f" {ways} in 16" for ways in THROW.values()]
    page.locator("#moves button", has_text=re.compile(r"^4 ")).click()
    assert waits(page, "you win").startswith("Chance: 4. Light to move: you win ")
    assert page.locator("#moves button").count() == 1 and "in-4" in page.locator("#moves button").text_content()
    assert page.locator(".board-legend").text_content().endswith("expected by the player to move")
    page.locator("#moves button").click()  # on a rosette: Light throws again, and the game goes on by itself
    page.wait_for_function("() => document.querySelectorAll('#history .point').length > 3")
    assert page.locator("#line").text_content().startswith("Chance decides some moves")


@pytest.mark.thorough
@needs_browser
def test_a_game_of_dice_is_played_to_its_end(page):
    opened(page, "pig:target=5")
    play_to_the_end(page)
    assert re.search(r"has won.*You (win|lose)\.", page.locator("#status").text_content())
    assert not page.locator("#card li").count()


@pytest.mark.thorough
@needs_browser
def test_a_puzzle_is_solved_on_the_page(page):
    assert opened(page, "hanoi:disks=3") == "You solve it in 7 moves with right play."
    assert page.locator("#swap").is_hidden() and page.locator("#second").is_hidden()
    assert page.locator("#first-name").text_content() == "Player"
    assert "solved in 7" in page.locator("#moves li").first.text_content()
    for ply in range(1, 8):
        page.locator("#moves button").first.click()
        page.wait_for_function(f"() => document.querySelectorAll('#history .point').length === {ply + 1}")
    assert waits(page, "Solved").endswith("Solved after 7 moves.")
    assert not page.locator("#history .heads span").count()


@pytest.mark.thorough
@needs_browser
def test_several_players_and_scores_are_told_as_what_they_are(page):
    assert opened(page, "nim3") == "Player 1 to move: another gets more than you in 5 plies. Utilities: 0 : 1 : 0."
    page.locator("#second").select_option("human")
    for ply, who in enumerate(["Player 2", "Player 3", "Player 1", "Player 2"], 1):
        page.locator("#moves button[aria-disabled=false]").first.click()
        page.wait_for_function(f"() => document.title.includes('move {ply}: ')")
        assert f"move {ply}: {who} to move" in page.title()
    assert opened(page, "nim3&m=7>6,6>4,4>3,3>2,2>0") == (
        "You played 3>2. Player 2 plays 2>0. Player 2 has won. 0 : 1 : 0. You lose."
    )
    page.wait_for_selector("#card li")
    assert "as good as any: 0 : 1 : 0" in page.locator("#card li").first.text_content()
    said = opened(page, "nim3&m=7>6,6>4,4>3,3>2,2>0&first=computer&second=human")
    assert said.endswith("Player 2 has won. 0 : 1 : 0. You win.")
    said = opened(page, "dotsandboxes:1,2")
    assert said == "First to move: from here on both get as much. Score: 0."
    play_to_the_end(page)  # each move's pay is counted once, and the same as from a link
    said = page.locator("#status").text_content().strip()
    points = re.search(r"(\d) to (\d)\.", said)
    assert sum(map(int, points.groups())) == 2
    page.reload()
    assert waits(page, r"\d to \d") == said
    assert opened(page, "nim").endswith("Nimber: *2.")
    page.goto(page.base)
    page.wait_for_selector(".card")
    assert "Light expects 0.0" in page.locator("[data-variant='ur']").text_content()
    assert "Farthest: " in page.locator("[data-variant='hanoi:disks=3']").text_content()
    assert "2147483647" not in page.locator("main").text_content()


@pytest.mark.thorough
@needs_browser
def test_the_page_counts_by_the_fifty_move_rule(by_the_rule, browser):
    server, page = Server(by_the_rule), browser.new_page()
    try:
        page.base = server.url
        said = opened(page, "chess:KRK&second=human&p=" + LATE.replace("/", "%2F").replace(" ", "+"))
        without = r"Without the fifty-move rule: win in \d+ plies \(mate in \d+\)\."
        assert re.fullmatch(rf"White to move: a draw if both play right\. {without}", said)
        for ply in range(1, 11):
            page.locator("#moves button[aria-disabled=false]").first.click()
            page.wait_for_function(f"() => document.querySelectorAll('#history .point').length === {ply + 1}")
        assert waits(page, "fifty-move rule").endswith("A draw by the fifty-move rule.")
        page.reload()  # the address holds the count as well
        page.wait_for_selector("#board svg")
        assert waits(page, "fifty-move rule").endswith("A draw by the fifty-move rule.")
    finally:
        page.close()
        server.stop()
