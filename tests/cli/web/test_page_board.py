"""The board of the page in a real browser: what it shows of moves, and every way of making them."""

import random
import re
from dataclasses import asdict

import pytest

from retrograde.cli.web import view
from retrograde.databases import open_database
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import LATE
from tests.helpers.marks import thorough_but
from tests.helpers.serving import Server, fill, needs_browser
from tests.helpers.solving import copy_whole

pytestmark = [pytest.mark.long, needs_browser]
SMALL = {"connect4": "connect4:4,4", "chess": "chess:KPK", "eightpuzzle": "eightpuzzle:3,2", "kalah": "kalah:3,1",
         "morris": "morris:3", "lasker": "lasker:3", "pocketcube": "pocketcube:faces=2", "quixo": "quixo:3",
         "teeko": "teeko:3,3", "draughts": "draughts:KKvK", "dobutsu": "dobutsu:C",
         "baghchal": "baghchal:3,2,4,2", "foxandhounds": "foxandhounds:4"}  # fmt: skip
BEGIN = {"chess:KPK": "&p=8/8/8/3k4/8/8/4P3/4K3_w", "draughts:KKvK": "&p=W:WK31,K32:BK19"}


def small_variant(name):
    """Return a variant of a game that is solved in seconds: one from SMALL, or the game's own example."""
    example = game_class(name).example
    return SMALL.get(name) or (f"{name}:{example}" if example else name)


PLAYED = [text for text in map(small_variant, BUILT_IN) if load_game(text).draw_board()]
SERVED = ["tictactoe", "connect4:4,4", "dodgem", "chess:KRK", "chess:KPK", "chess:KQKR"]
"""What is served to most tests."""
PLIES = 12
KQKR_FORK = "?v=chess:KQKR&p=8%2F1n6%2F5R2%2F4K1k1%2F8%2F8%2F8%2F8+w"


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    return fill(tmp_path_factory.mktemp("home"), solved, SERVED)


@pytest.fixture(scope="module")
def url(home, solved):
    for text in ("chess:KPK", "chess:KQKR"):
        copy_whole(solved(text), home)
    server = Server(home)
    yield server.url
    server.stop()


@pytest.fixture
def open_page(browser, url, request):
    """A function that opens a page, with people on both sides unless told; what it complains of fails the test."""
    pages, faults = [], []

    def open_page(query="", alone=False, **options):
        page = browser.new_page(**{"reduced_motion": "reduce", **options})
        page.set_default_timeout(1000 * LATE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        at = request.getfixturevalue("lgame_url") if "lgame" in query else url
        page.goto(f"{at}{query}")
        page.wait_for_selector("#board svg")
        pages.append(page)
        if not alone:
            page.locator("#second").select_option("human")
        return page

    open_page.faults = faults
    yield open_page
    for page in pages:
        page.close()
    assert not faults


def hit(page, place):
    return page.locator(f"#board [data-place='{place}']")


def pieces(page):
    """Return what is seen on the board: the signs by place."""
    men = page.locator("#board .men .man").evaluate_all("men => men.map((one) => [one.dataset.at, one.dataset.sign])")
    return {int(place): sign for place, sign in men}


def values_at(page, place):
    """Return the values that are marked at a place."""
    return page.evaluate(
        """(place) => {
            const hit = document.querySelector(`#board [data-place="${place}"]`).getBoundingClientRect();
            const near = (one) => {
                const box = one.getBoundingClientRect();
                const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
                return x > hit.left && x < hit.right && y > hit.top && y < hit.bottom;
            };
            const marks = [...document.querySelectorAll("#board .spots .move")].filter(near);
            return marks.flatMap((one) => [...one.querySelectorAll("[data-value]")].map((part) => part.dataset.value));
        }""",
        place,
    )


def wait_for_plies(page, count):
    page.wait_for_function(f"() => document.querySelectorAll('#history .point').length == {count + 1}")


# What moves are worth


@pytest.mark.thorough
def test_where_two_men_reach_one_place_both_values_are_seen(open_page, solved):
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        game, chance = solution.game, random.Random(1)
        for _ in range(500):
            place = random_position(solution, chance)
            told = view.show_position(solution, place, None, False)
            ends = {}
            for one in told.moves:
                ends.setdefault(one.places[-1], {})[one.places[0]] = one.value
            shared = next((end for end, men in ends.items() if set(men.values()) == {"win", "draw"}), None)
            if shared is not None:
                break
        page = open_page(f"?v=chess:KQKR&p={game.write(place).replace(' ', '_')}")
    assert sorted(values_at(page, shared)) == ["draw", "win"]
    for man, value in ends[shared].items():
        hit(page, man).click()
        assert values_at(page, shared) == [value]
        page.locator("#clear").click()


SEEN = """async (steps) => {
    const { Board } = await import("/static/board.js");
    const box = document.createElement("div");
    document.body.append(box);
    const board = new Board(box, () => {}, () => {});
    const hidden = [];
    const shown = (part) => `${part.querySelector("use").getAttribute("href").split("-")[1]} ${part.textContent}`;
    const marked = (name) => [...box.querySelectorAll(".spots .move")]
        .filter((one) => one.dataset.move.split(" ").includes(name))
        .flatMap((one) => [...one.querySelectorAll("[data-value]")].map(shown)).sort().join(", ");
    const worth = (one) => `${one.value === "draw" ? "tie" : one.value} ${one.remoteness ?? "="}`;
    for (const step of steps) {
        board.show(step, true);
        for (const one of step.moves) {
            const there = step.moves.filter((other) => other.places[1] === one.places[1]);
            const all = [...new Set(there.map(worth))].sort().join(", ");
            const seen = marked(one.name);
            if (seen !== all) hidden.push(`${step.position} ${one.name}: ${seen}, and not ${all}`);
            board.pick(one.places[0]);
            if (marked(one.name) !== worth(one)) hidden.push(`${step.position} ${one.name} when it is picked`);
            board.clear();
        }
    }
    return hidden;
}"""


@pytest.mark.parametrize("positions", [8, pytest.param(150, marks=pytest.mark.slow)])
def test_the_value_of_every_move_is_seen(open_page, solved, positions):
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        chance = random.Random(7)
        places = [random_position(solution, chance) for _ in range(positions)]
        steps = [asdict(view.show_position(solution, place)) for place in places]
    assert sum(len(step["moves"]) for step in steps) > 6 * positions
    clashes = 0
    for step in steps:
        worth = {}
        for one in step["moves"]:
            worth.setdefault(one["places"][1], set()).add((one["value"], one["remoteness"]))
        clashes += any(len(values) > 1 for values in worth.values())
    assert clashes > positions / 4  # else it shows nothing
    assert open_page("?v=chess:KQKR").evaluate(SEEN, steps) == []


@pytest.mark.thorough
def test_lines_lie_under_men_and_marks(open_page):
    page = open_page("?v=chess:KQKR&p=8/1r6/3Q4/4K3/6k1/8/8/8_w")
    layers = page.locator("#board svg > g").evaluate_all("all => all.map((one) => one.classList[0])")
    assert layers == ["ground", "labels", "lines", "men", "lasts", "ends", "spots", "hits"]
    assert page.locator("#board .lines line").count() > 10
    assert page.locator("#board line").count() == page.locator("#board .lines line").count()


CONTRAST = """() => {
    const channels = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
        .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (one) => {
        for (let box = one; box; box = box.parentElement) {
            const colour = channels(getComputedStyle(box).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const texts = [".board-said", ".board-flip", ".board-edit", ".board-legend li", ".board-turn label", ".board-fault",
        "#board .label"];
    return texts.flatMap((name) => [...document.querySelectorAll(name)].slice(0, 1)).map((one) => {
        const style = getComputedStyle(one);
        const ink = light(channels(one.closest("svg") ? style.fill : style.color));
        const paper = light(ground(one.closest("svg")?.parentElement ?? one));
        return [one.className.baseVal ?? one.className, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
    });
}"""


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", thorough_but(["light", "dark"], "dark"))
def test_what_is_written_at_the_board_has_contrast(open_page, scheme):
    page = open_page("?v=tictactoe", color_scheme=scheme)
    page.locator(".board-edit").click()
    page.locator(".board-set-up").wait_for()
    measured = page.evaluate(CONTRAST)
    assert len(measured) == 7
    for name, contrast in measured:
        assert contrast >= 4.5, (name, contrast)


@pytest.mark.thorough
def test_the_legend_has_the_shapes_of_the_board(open_page):
    page = open_page("?v=chess:KQKR")
    shapes = page.locator(".board-legend use").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert shapes == ["#retrograde-win", "#retrograde-tie", "#retrograde-lose"]
    assert page.locator(".board-legend svg").first.bounding_box()["width"] > 10
    drawn = page.locator(".board-legend use").evaluate_all("all => all.map((one) => one.getBBox().width > 0)")
    assert drawn == [True] * 3
    used = page.locator("#board .spots use").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert used and set(used) <= set(shapes)
    page.locator("#hints").uncheck()
    assert not page.locator(".board-legend").is_visible()


# A whole game


def offers(page):
    """Return what the page offers: places that go on, and buttons for what pointing does not tell."""
    ways = page.locator(".board-ways button")
    places = page.locator("#board .goes").evaluate_all("all => all.map((one) => Number(one.dataset.place))")
    return [("way", number) for number in range(ways.count())] + [("place", place) for place in places]


def play(page, choose):
    """Play by what the page offers until the game ends or long enough; return the plies played."""
    chance = random.Random(3)
    for _ in range(200):
        plies = page.locator("#history .point").count() - 1
        open_to_me = offers(page)
        if plies >= PLIES or not open_to_me:
            return plies
        choose(page, *chance.choice(open_to_me))
        page.wait_for_function("() => !document.querySelector('#board [aria-busy=true]')")
    raise AssertionError("the game does not come to an end")


def click(page, kind, number):
    (page.locator(".board-ways button").nth(number) if kind == "way" else hit(page, number)).click()


PATH = """async (goal) => {
    const { neighbour } = await import("/static/motion.js");
    const hits = [...document.querySelectorAll("#board [data-place]")];
    const middle = (hit) => ({ x: Number(hit.getAttribute("x")), y: Number(hit.getAttribute("y")) });
    const [places, at] = [hits.map((_, place) => place), (place) => middle(hits[place])];
    const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const start = Number(document.activeElement.dataset.place);
    const paths = new Map([[start, []]]);
    for (const place of paths.keys()) {
        for (const [key, way] of Object.entries(keys)) {
            const other = neighbour(places, at, place, way);
            if (!paths.has(other)) paths.set(other, [...paths.get(place), key]);
        }
    }
    return paths.get(goal);
}"""


def press(page, kind, number):
    """Go to a place by arrow keys, or to a button by Tab, and press Enter; nothing is clicked or focused otherwise."""
    if kind == "way":
        for _ in range(number + 1):
            page.keyboard.press("Tab")
    else:
        for key in page.evaluate(PATH, number):
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.place") == str(number)
    page.keyboard.press("Enter")


def slowly(texts, *quick):
    """Return some parameters, all but the quick ones marked as slow: all together take a minute."""
    return [text if text in quick else pytest.param(text, marks=pytest.mark.slow) for text in texts]


@pytest.mark.parametrize("text", slowly(PLAYED, "chess:KPK"))
def test_a_game_is_played_by_clicks_alone(open_page, text, home, solved):
    fill(home, solved, {text} - {*SERVED})
    page = open_page(f"?v={text}{BEGIN.get(text, '')}")
    assert play(page, click) >= min(PLIES, 2)


@pytest.mark.parametrize("text", slowly(PLAYED, "dodgem"))
def test_a_game_is_played_by_keyboard_alone(open_page, text, home, solved):
    fill(home, solved, {text} - {*SERVED})
    page = open_page(f"?v={text}{BEGIN.get(text, '')}")
    page.locator("#clear").evaluate("() => document.activeElement.blur()")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset?.place !== undefined"):
            break
    assert play(page, press) >= min(PLIES, 2)


def test_every_built_in_game_with_a_board_is_played():
    assert {text.partition(":")[0] for text in PLAYED} <= set(BUILT_IN)
    assert len(PLAYED) >= 14
    assert game_class("chess").example


# Picking


@pytest.mark.thorough
def test_a_stone_is_dropped_by_a_click_anywhere_in_its_column(open_page):
    page = open_page("?v=connect4:4,4")
    for plies, place in enumerate((1, 5, 13, 1), start=1):
        hit(page, place).click()
        wait_for_plies(page, plies)
    assert pieces(page) == {13: "X", 9: "O", 5: "X", 1: "O"}
    page.mouse.click(*middle(page, 9))  # the column is full
    page.wait_for_timeout(200)
    assert len(pieces(page)) == 4


@pytest.mark.thorough
def test_a_turn_of_several_steps_is_picked_step_by_step(open_page):
    page = open_page("?v=lgame")
    said = page.locator(".board-said")
    for place in (2, 3, 6):  # c1 d1 c2
        hit(page, place).click()
    assert said.text_content().startswith("Picked c1, d1, c2; ")
    hit(page, 10).click()  # c3
    assert "Done makes the move as it is" in said.text_content() and "one of" not in said.text_content()
    assert "Next: a1 or d4." in said.text_content()
    hit(page, 0).click()  # the white stone
    assert not page.locator(".board-ways button").count()
    hit(page, 0).click()  # which is put back
    done = page.locator(".board-ways button")
    assert re.match(r"Done: c1d1c2c3 draw", done.text_content())
    done.click()
    wait_for_plies(page, 1)
    assert pieces(page)[3] == "X" and pieces(page)[0] == "w"


@pytest.mark.thorough
def test_cells_that_make_two_turns_are_told_apart_by_their_order(open_page):
    """The five cells of a U hold two L's, each with a stone on the fifth."""
    page = open_page("?v=lgame")
    moves = page.evaluate("async () => (await (await fetch('/api/position?variant=lgame')).json()).moves")
    sets = {}
    for one in moves:
        sets.setdefault(tuple(sorted(one["places"])), []).append(one)
    first, second = next(same for same in sets.values() if len(same) == 2)
    for move in (second, first):
        for place in move["places"]:
            hit(page, place).click()
        wait_for_plies(page, 1)
        assert page.locator("#position").input_value() == move["position"]
        page.locator("#undo").click()
        wait_for_plies(page, 0)


@pytest.mark.thorough
def test_moves_through_the_same_places_are_chosen_by_name(open_page):
    page = open_page("?v=chess:KPK&p=8/4P3/8/8/8/1k6/8/K7_w")
    hit(page, 12).click()
    hit(page, 4).click()
    ways = page.locator(".board-ways button")
    assert [name.split()[0] for name in ways.all_text_contents()] == ["e8=Q", "e8=R", "e8=B", "e8=N"]
    assert "Choose one of the moves" in page.locator(".board-said").text_content()
    ways.nth(1).click()
    wait_for_plies(page, 1)
    assert pieces(page)[4] == "R"


@pytest.mark.thorough
def test_what_is_picked_is_cleared_by_escape_or_another_man(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8_w")
    hit(page, 30).click()
    assert page.locator("#board .picked").get_attribute("data-place") == "30"
    hit(page, 21).click()
    assert page.locator("#board .picked").get_attribute("data-place") == "21"
    assert page.locator(".board-said").get_attribute("aria-live") == "polite"
    assert page.locator(".board-said").text_content().startswith("Picked f6, white king; ")
    page.keyboard.press("Escape")
    assert page.locator("#board .picked").count() == 0
    assert page.locator(".board-said").text_content() == "Nothing is picked."


# By keyboard


@pytest.mark.thorough
def test_arrow_keys_go_from_place_to_place_and_focus_stays(open_page):
    page = open_page("?v=tictactoe", alone=True)  # against the computer
    focused = "document.activeElement.dataset.place"
    assert page.locator("#board [tabindex='0']").count() == 1
    page.locator("#board [tabindex='0']").focus()
    for key, place in (
        ("Home", 0),
        ("ArrowRight", 1),
        ("ArrowDown", 4),
        ("ArrowLeft", 3),
        ("ArrowLeft", 3),
        ("End", 8),
    ):
        page.keyboard.press(key)
        assert page.evaluate(focused) == str(place)
    page.keyboard.press("Enter")
    wait_for_plies(page, 2)
    assert page.evaluate(focused) == "8"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "5"


@pytest.mark.thorough
def test_places_are_called_in_words_of_the_game(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8_w")
    assert re.fullmatch(r"g5, white rook; \d+ moves", hit(page, 30).get_attribute("aria-label"))
    assert hit(page, 7).get_attribute("aria-label") == "h8, black king"
    hit(page, 30).click()
    assert hit(page, 30).get_attribute("aria-label") == "g5, white rook; picked"
    assert re.fullmatch(r"g6, empty; Rg6, win in \d+", hit(page, 22).get_attribute("aria-label"))
    assert page.locator("#board svg").get_attribute("role") == "application"
    page.goto(page.url.split("?")[0] + "?v=connect4:4,4")
    page.wait_for_selector("#board .holes, #board .hole")
    assert "1, empty" in hit(page, 0).get_attribute("aria-label")


# Motion


RUNNING = "() => document.getAnimations().filter((one) => one.effect.target.classList.contains('man')).length"


@pytest.mark.thorough
def test_men_move_unless_a_person_asks_for_less_motion(open_page):
    for reduced, runs in (("no-preference", True), ("reduce", False)):
        page = open_page("?v=connect4:4,4", reduced_motion=reduced)
        page.evaluate(f"""() => {{ window.seen = 0;
            const look = () => {{ window.seen = Math.max(window.seen, ({RUNNING})()); requestAnimationFrame(look); }};
            look(); }}""")
        hit(page, 0).click()
        wait_for_plies(page, 1)
        page.wait_for_timeout(400)
        assert (page.evaluate("window.seen") > 0) == runs
        assert page.evaluate(RUNNING) == 0


def middle(page, place):
    box = hit(page, place).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_men_are_dragged(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8_w")
    page.mouse.move(*middle(page, 30))
    page.mouse.down()
    page.mouse.move(*middle(page, 38), steps=4)
    assert page.locator("#board .held").get_attribute("data-at") == "30"
    page.mouse.move(*middle(page, 1), steps=4)  # b8, where it cannot go
    page.mouse.up()
    assert pieces(page)[30] == "R" and page.locator("#board .picked").get_attribute("data-place") == "30"
    assert page.locator("#history .point").count() == 1
    page.mouse.move(*middle(page, 30))
    page.mouse.down()
    page.mouse.move(*middle(page, 62), steps=4)
    page.mouse.up()
    wait_for_plies(page, 1)
    assert pieces(page)[62] == "R" and 30 not in pieces(page)


@pytest.mark.thorough
def test_men_are_dragged_by_touch(open_page):
    page = open_page("?v=dodgem", has_touch=True, viewport={"width": 400, "height": 800})
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    page.touchscreen.tap(*middle(page, 3))  # a touch that does not move picks
    assert page.locator("#board .picked").get_attribute("data-place") == "3"
    (x1, y1), (x2, y2) = middle(page, 0), middle(page, 1)
    touch("touchStart", (x1, y1))
    for part in (0.2, 0.6, 1.0):
        touch("touchMove", (x1 + part * (x2 - x1), y1 + part * (y2 - y1)))
    touch("touchEnd")
    wait_for_plies(page, 1)
    assert pieces(page)[1] == "O" and 0 not in pieces(page)


# The end


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("?v=tictactoe&p=XX./OO./...", None),
        pytest.param("?v=chess:KRK&p=R5k1/8/6K1/8/8/8/8/8_b", {6}, marks=pytest.mark.thorough),
        pytest.param("?v=connect4:4,4&p=1121314", {12, 13, 14, 15}, marks=pytest.mark.thorough),
    ],
)
def test_what_has_ended_the_game_is_marked(open_page, query, places):
    page = open_page(query)
    if places is None:
        assert page.locator("#board .end").count() == 0
        hit(page, 2).click()
        wait_for_plies(page, 1)
        places = {0, 1, 2}
    marks = page.locator("#board .ends .end:not(.edge)")
    assert marks.count() == len(places)
    for number in range(marks.count()):
        box = marks.nth(number).bounding_box()
        assert any(abs(box["x"] + box["width"] / 2 - middle(page, place)[0]) < 2 for place in places)


# The other side


@pytest.mark.thorough
def test_the_board_is_seen_from_the_other_side_and_that_is_remembered(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8_w")
    corner = middle(page, 0)
    page.locator(".board-flip").click()
    assert middle(page, 63) == pytest.approx(corner, abs=1)
    assert page.locator(".board-flip").get_attribute("aria-pressed") == "true"
    man = page.locator("#board .man[data-at='30']").bounding_box()
    assert man["x"] + man["width"] / 2 == pytest.approx(middle(page, 30)[0], abs=3)
    hit(page, 30).click()
    hit(page, 62).click()
    wait_for_plies(page, 1)
    assert middle(page, 63) == pytest.approx(corner, abs=1)
    labels = page.locator("#board .label").evaluate_all(
        "all => all.map((one) => [one.textContent, one.getAttribute('x')])"
    )
    assert dict(labels)["a"] == "7" and dict(labels)["8"] == "-0.75"
    page.reload()
    page.wait_for_selector("#board svg")
    assert middle(page, 63) == pytest.approx(corner, abs=1)
    page.locator(".board-flip").click()
    page.reload()
    page.wait_for_selector("#board svg")
    assert middle(page, 0) == pytest.approx(corner, abs=1)


# Setting up


def test_a_position_is_set_up_by_drag_and_drop(open_page):
    page = open_page("?v=chess:KRK&p=7k/8/5K2/6R1/8/8/8/8_w")
    page.locator(".board-edit").click()
    page.locator(".board-palette [data-sign='R']").wait_for()
    assert page.locator(".board-palette button").count() == 13
    page.mouse.move(*middle(page, 7))  # off the board
    page.mouse.down()
    box = page.locator("#board").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2, steps=3)
    page.mouse.up()
    assert 7 not in {
        int(one) for one in page.locator("#board .man").evaluate_all("all => all.map((m) => m.dataset.at)")
    }
    assert page.locator(".board-said").text_content() == "h8: empty; black king is gone."
    page.mouse.move(*middle(page, 21))  # from place to place
    page.mouse.down()
    page.mouse.move(*middle(page, 22), steps=3)
    page.mouse.up()
    assert page.locator(".board-said").text_content() == "f6: empty; g6: white king."
    page.locator(".board-set-up").click()
    page.wait_for_function("() => document.querySelector('.board-fault').textContent")
    told = "That is no position: no legal position: Black has no king; put one."
    assert page.locator(".board-fault").text_content() == told
    start = page.locator(".board-palette [data-sign='k']").bounding_box()
    page.mouse.move(start["x"] + 15, start["y"] + 15)  # from the palette
    page.mouse.down()
    page.mouse.move(*middle(page, 0), steps=4)
    page.mouse.up()
    page.locator(".board-turn input[value='k']").check()
    page.locator(".board-set-up").click()
    page.wait_for_function("() => document.querySelector('#position').value == 'k7/8/6K1/6R1/8/8/8/8 b - - 0 1'")
    assert page.locator(".board-editor").count() == 0
    assert pieces(page) == {0: "k", 22: "K", 30: "R"}
    open_page.faults[:] = [fault for fault in open_page.faults if "status of 40" not in fault]


@pytest.mark.thorough
def test_a_position_is_set_up_by_keyboard(open_page):
    page = open_page("?v=tictactoe")
    page.locator(".board-edit").focus()
    page.keyboard.press("Enter")
    page.locator(".board-palette").wait_for()
    assert page.evaluate("document.activeElement.dataset.sign") == "X"
    page.keyboard.press("Enter")  # X is chosen, on to the board
    for keys in (["Home", "Enter"], ["ArrowRight", "Enter"], ["ArrowDown", "Enter", "Delete", "Enter"]):
        for key in keys:
            page.keyboard.press(key)
    assert set(page.locator("#board .man").evaluate_all("all => all.map((m) => m.dataset.at)")) == {"0", "1", "4"}
    assert page.locator(".board-said").text_content() == "b2: cross."
    page.locator(".board-set-up").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.board-fault').textContent")
    assert (
        page.locator(".board-fault").text_content()
        == "That is no position: there must be as many X as O, or one X more."
    )
    page.locator(".board-palette [aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")  # O
    page.keyboard.press("Enter")
    for key in ("End", "Enter", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    page.locator(".board-turn input[value='O']").check()
    page.locator(".board-set-up").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#position').value == 'XX./.X./.OO'")
    assert page.evaluate("document.activeElement.dataset.place") == "7"  # focus stays with the board
    open_page.faults[:] = [fault for fault in open_page.faults if "status of 400" not in fault]


@pytest.mark.thorough
def test_the_game_waits_while_a_position_is_set_up(open_page):
    """Neither a machine's reply nor other settings end the editor; nothing is said or offered of the old position."""
    page = open_page("?v=tictactoe&first=computer&second=computer", alone=True)
    wait_for_plies(page, 1)
    page.locator(".board-edit").click()
    page.locator(".board-clear").click()
    count = page.locator("#history .point").count()
    page.wait_for_timeout(900)
    page.locator("#swap").click()
    page.locator("#first").select_option("human")
    assert page.locator(".board-editor").count() == 1 and page.locator("#board .man").count() == 0
    assert page.locator("#history .point").count() == count and page.locator("#moves").is_hidden()
    assert page.locator("#status").text_content().startswith("A position is being set up.")
    assert page.locator("#undo").get_attribute("aria-disabled") == "true"
    page.locator("#first").select_option("computer")
    page.locator(".board-edit").click()
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('A tie')")  # it goes on
    assert page.locator(".board-editor").count() == 0


@pytest.mark.thorough
def test_the_start_and_the_empty_board_are_a_button_away(open_page):
    page = open_page("?v=dodgem&p=O../O../.XX/O")
    page.locator(".board-edit").click()
    page.locator(".board-clear").click()
    assert page.locator("#board .man").count() == 0
    assert page.locator("#board .sign").count() == 6  # the exits stay
    page.locator(".board-start").click()
    assert page.locator("#board .man").count() == 4
    page.locator(".board-edit").click()
    assert page.locator(".board-editor").count() == 0
    assert len(pieces(page)) == 4
