"""GamesmanUni's page as a client: what it reads out of positions and moves, and games played through it.

The rules of its reading are those of its source (src/components/units/GameBody/ImageAutoGUI.vue, version 5.0.35). The
page itself is played in a browser where GAMESMANUNI names the folder with it: `npm install --ignore-scripts` and
`npx vite build` in https://github.com/GamesCrafters/GamesmanUni make it, as `dist`. Nothing but the address of its
server is replaced on the way.
"""

import http.server
import os
import re
import threading
from pathlib import Path
from random import Random
from urllib.parse import unquote

import pytest

from tests.helpers.marks import thorough_but

pytest.importorskip("fastapi")

from retrograde.cli.web import uni_images
from retrograde.cli.web.autogui import autogui_style, buttons, move_string, position_string, touched_places
from retrograde.cli.web.gamescrafters import variant_id, variant_text
from retrograde.databases import database_path, open_database
from retrograde.games.catalog import load_game, variant
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import Game
from retrograde.solver.engine import solve
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import HEAP
from tests.helpers.serving import CHROMIUM, Server, client_of, fill, get
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

SHOWN = {
    "tictactoe": "tictactoe/regular",
    "tictactoe:misere": "tictactoe/misere-yes",
    "tictactoe:2": "tictactoe-boards/size-2",
    "connect4:4,4": "connect4/width-4_height-4",
    "dodgem": "dodgem/regular",
    "mutorere": "mutorere/regular",
    "lgame": "lgame/regular",
    "hareandhounds": "hareandhounds/regular",
    "chess:KPK": "chess/KPK",
    "tentozero": "tentozero/regular",
}
"""Every game of ours with a board, and where it is."""

POSITION = re.compile(r"^(1|2)_([a-zA-Z0-9-.~]+)*")
PLACE = re.compile(r"^A_([a-zA-Z0-9-])_([0-9]+)*")
ARROW = re.compile(r"^M_([0-9]+)_([0-9]+)*")
OTHERS = re.compile(r"^L_([0-9]+)_([0-9]+)*|^T_([a-zA-Z0-9-])_([0-9]+)*|^LQ_|^LC_|^LA_")
"""How their page reads."""

IMAGES = {
    *(f"chess/lichess/{name}.svg" for name in ("grid", *"KQRBNP", "kk", "qq", "rr", "bb", "nn", "pp")),
    *(f"general/{colour}_circle.svg" for colour in ("blue", "brown", "green", "orange", "pink", "purple")),
    *(f"general/{name}.svg" for name in ("red_circle", "teal_circle", "yellow_circle", "blackpiece", "whitepiece")),
    *(f"klotski/sharp/tile_{name}.svg" for name in ("11", "22TL", "21T", "12R")),
    *("ttt/3x3grid.svg", "ttt/x.svg", "ttt/o.svg", "tactix/o.svg", "dao/B.svg", "hashi/grayclick.svg"),
}
"""Files of src/models/images/svg there; one that is not there stops the page."""
SOUNDS = {"general/slide.mp3", "general/place.mp3"}
PLIES = 60


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder of databases, to which a test may add others."""
    folder = fill(tmp_path_factory.mktemp("home"), solved, ["tictactoe", "tictactoe:2", "tentozero"])
    return copy_whole(solved("chess:KPK"), folder).parent


@pytest.fixture
def client(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    return client_of()


def as_their_page_asks(client, path, position):
    """Ask for a position as their page does: it stands in the address as it is."""
    response = client.get(f"/{path}/positions/?p={position}")
    assert response.status_code == 200, response.text
    return response.json()


def read_theme(about):
    """Check what their page is told of a board, and return it."""
    data = about["imageAutoGUIData"]
    theme = data["themes"][data["defaultTheme"]]
    width, height = theme["space"]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in theme["centers"])
    for sign, picture in theme["charImages"].items():
        assert re.fullmatch("[a-zA-Z0-9]", sign) and picture["scale"] > 0
        assert picture["image"] in IMAGES
    assert {theme.get("background", "ttt/x.svg")} <= IMAGES and "foreground" not in theme
    assert set(theme["sounds"].values()) <= SOUNDS
    return theme


def read_position(answer, theme):
    """Read a position and its moves as their page does; return whose turn it is."""
    match = POSITION.match(answer["autoguiPosition"])
    turn, (board, *texts) = match[1], match[2].split("~")
    assert match.end() == len(answer["autoguiPosition"]) and len(board) <= len(theme["centers"])
    assert all(sign in theme["charImages"] or sign in "-." for sign in board)
    assert len(texts) == board.count(".")
    found = {}
    for move in answer["moves"]:
        string = move["autoguiMove"]
        assert string not in found  # they are its keys
        if match := PLACE.match(string):
            found[string] = (int(match[2]),)
            assert match[1] not in theme["charImages"] or theme["background"] == uni_images.GRID_OF_3
        elif match := ARROW.match(string):
            found[string] = (int(match[1]), int(match[2]))
        else:
            assert not OTHERS.match(string) and string == move["move"]  # it is listed, and made by its name
            found[string] = ()
        assert all(center < len(theme["centers"]) for center in found[string])
        assert move["moveValue"] == (
            move["positionValue"]
            if move["autoguiPosition"][0] == turn
            else {"win": "lose", "lose": "win"}.get(move["positionValue"], move["positionValue"])
        )
        assert not {"winby", "mex", "drawLevel", "drawRemoteness"} & set(move)
    return turn


@pytest.mark.parametrize("text", thorough_but(SHOWN, "tictactoe:2", "chess:KPK"))
def test_games_through_requests(client, home, text, solved):
    """Two games each, move by move as their page plays them; what it is told agrees with the database."""
    fill(home, solved, [text])
    path = SHOWN[text]
    game_id, variant_part = path.split("/")
    assert [game["gui"] for game in get(client, "/") if game["id"] == game_id] == ["v1"]
    assert variant_part in [one["id"] for one in get(client, f"/{game_id}/")["variants"]]
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", variant_part)  # which every address may have
    about = get(client, f"/{path}/")
    theme = read_theme(about)
    chance = Random(text)
    with Solution(open_database(database_path(variant(load_game(text)), home))) as solution:
        for _ in range(2):
            play(client, path, about, theme, solution, chance)


def play(client, path, about, theme, solution, chance):
    """Play a game by chance, to its end unless it has none."""
    place = solution.start_or_example
    position, told = about["startPosition"], about["autoguiStartPosition"]
    for _ in range(PLIES):
        answer = as_their_page_asks(client, path, position)
        assert answer["autoguiPosition"] == told and answer["position"] == position
        value, remoteness = solution.value(place)
        assert answer["positionValue"] == value.name.lower()
        assert answer["remoteness"] == (-200 if remoteness is None else remoteness)
        turn = read_position(answer, theme)
        if not answer["moves"]:
            assert not solution.moves(place)
            return
        step = answer["moves"][chance.randrange(len(answer["moves"]))]
        while step["autoguiPosition"][0] == turn:  # part of a turn
            after = as_their_page_asks(client, path, step["position"])
            assert after["autoguiPosition"] == step["autoguiPosition"]
            assert (after["positionValue"], after["remoteness"]) == (step["positionValue"], step["remoteness"])
            read_position(after, theme)
            step = after["moves"][chance.randrange(len(after["moves"]))]
        assert {turn, step["autoguiPosition"][0]} == {"1", "2"}
        position, told = step["position"], step["autoguiPosition"]
        place = next(one.position for one in solution.moves(place) if one.name == step["move"].removeprefix("·"))
        assert as_their_page_asks(client, path, position)["positionValue"] == step["positionValue"]


def test_tic_tac_toe_as_their_page_draws_it_by_heart(client):
    answer = as_their_page_asks(client, "tictactoe/regular", "1_---------")
    assert answer["position"] == answer["autoguiPosition"] == "1_---------"
    assert {move["autoguiMove"] for move in answer["moves"]} == {f"A_x_{cell}_y" for cell in range(9)}
    after = as_their_page_asks(client, "tictactoe/regular", "2_---x-----")
    assert after["position"] == "2_---x-----" and after["moves"][0]["autoguiMove"][2] == "o"
    assert as_their_page_asks(client, "tictactoe/regular", ".../X../...") == after
    assert client.get("/tictactoe/regular/positions/?p=2_xx-------").status_code == 400


@pytest.mark.thorough
def test_a_turn_of_several_steps(client, home, solved):
    """The L-game: every move can be made by clicks, a cell at a time, and nothing else can."""
    fill(home, solved, ["lgame"])
    with Solution(open_database(database_path("lgame", home))) as solution:
        wanted = {choice.name: solution.game.write(choice.position) for choice in solution.moves(solution.start)}
    found, waiting, seen = {}, [get(client, "/lgame/regular/")["startPosition"]], set()
    while waiting:
        answer = as_their_page_asks(client, "lgame/regular", waiting.pop())
        assert 1 <= len(answer["moves"]) <= 40
        for move in answer["moves"]:
            if move["autoguiPosition"][0] == "2":
                found[move["move"]] = move["position"]
            elif move["position"] not in seen:
                assert move["move"].startswith("~") and ";" in move["position"]
                seen.add(move["position"])
                waiting.append(move["position"])
    assert found == wanted and len(found) > 20
    assert client.get("/lgame/regular/positions/?p=wXX./.OX./.OX./.OOg/X;0.15.3").status_code == 400
    assert client.get("/lgame/regular/positions/?p=wXX./.OX./.OX./.OOg/X;99999999").status_code == 400


def test_promotions_are_told_apart(client):
    answer = as_their_page_asks(client, "chess/KPK", "8/4P1k1/8/8/8/8/8/K7 w - - 0 1")
    step = next(move for move in answer["moves"] if ";" in move["position"])
    assert step["autoguiMove"] == "M_12_4_x" and step["move"] == "~e7-e8" and step["positionValue"] == "win"
    after = as_their_page_asks(client, "chess/KPK", step["position"])
    assert after["moves"][0]["move"] == "e8=Q"
    assert {move["move"] for move in after["moves"]} == {"e8=Q", "e8=R", "e8=B", "e8=N+"}
    assert all(move["autoguiMove"] == move["move"] for move in after["moves"])


def test_turns_that_the_game_does_not_tell(client):
    """From a total nobody can tell whose turn it is, so the position says it."""
    answer = as_their_page_asks(client, "tentozero/regular", "0")
    assert answer["position"] == "1_0" and {move["position"] for move in answer["moves"]} == {"2_1", "2_2"}
    after = as_their_page_asks(client, "tentozero/regular", "2_2")
    assert after["autoguiPosition"].startswith("2_") and after["moves"][0]["position"].startswith("1_")


def test_a_persons_own_game_is_shown(tmp_path, monkeypatch):
    """With a board of its own, signs that are no letters, and texts; and one without a board."""
    rules = tmp_path / "sim.py"  # by a name for which their page has a board of its own
    rules.write_text(HEAP.replace("    size: int = 10\n", f"    size: int = 10\n{BOARD}"), encoding="utf-8")
    plain = tmp_path / "heap.py"
    plain.write_text(HEAP, encoding="utf-8")
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    for path in (rules, plain):
        game = load_game(str(path))
        solve(game, database_path(variant(game), tmp_path))
    client = client_of([str(rules), str(plain)])
    assert {one["id"]: one["gui"] for one in get(client, "/")} == {"sim-boards": "v1", "heap": "v0"}
    about = get(client, "/sim-boards/regular/")
    theme = read_theme(about)
    assert len({picture["image"] for picture in theme["charImages"].values()}) == len(theme["charImages"])
    answer = as_their_page_asks(client, "sim-boards/regular", about["startPosition"])
    assert answer["autoguiPosition"].endswith("~7") and theme["animationType"] == "entityFade"
    read_position(answer, theme)
    about = get(client, "/heap/regular/")
    assert about["imageAutoGUIData"] is None and about["autoguiStartPosition"] == "1_10"
    answer = as_their_page_asks(client, "heap/regular", "10")
    assert all(move["autoguiMove"] == move["move"] for move in answer["moves"])
    assert answer["moves"][0]["autoguiPosition"].startswith("2_")


BOARD = """
    def draw_board(self):
        from retrograde.games.contract.drawing import grid

        return grid(4, 1, {"♞": "#c2410c disc", "♟": "orange disc", "7": "7", "s": "scarlet square"})

    def draw_pieces(self, heap):
        return "♞♟7."

    def draw_move(self, heap, taken):
        return (3,)
"""


def test_signs_of_positions_that_addresses_eat_arrive(tmp_path, monkeypatch):
    rules = tmp_path / "odd.py"
    rules.write_text(
        HEAP + "\n    def write(self, heap):\n        return f'{heap}+#&%41;7:'\n"
        "\n    def read(self, text):\n        assert text.endswith('+#&%41;7:'), text\n        return int(text[:-9])\n",
        encoding="utf-8",
    )
    game = load_game(str(rules))
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(game, database_path(variant(game), tmp_path))
    client = client_of([str(rules)])
    start = get(client, "/odd/regular/")["startPosition"]
    assert ":" not in start and "&" not in start and "#" not in start and "+" not in start
    answer = as_their_page_asks(client, "odd/regular", start)
    assert (answer["position"], answer["remoteness"]) == (start, 5)
    for move in answer["moves"]:
        assert as_their_page_asks(client, "odd/regular", move["position"])["remoteness"] == move["remoteness"]
    assert unquote(start) == "1_10+#&%41;7:"


@pytest.mark.parametrize(
    "text", ["connect4:width=5,height=4", "mutorere", "chess:KRKN", "tentozero:steps=1+3", "x:a_b=c-d,e=~f", "x:é=1"]
)
def test_ids_of_variants_lead_back(text):
    name = text.partition(":")[0]
    assert re.fullmatch("[A-Za-z0-9._~-]+", variant_id(text))
    assert variant_text(name, variant_id(text)) == text


def test_more_men_than_signs_are_no_picture():
    class Crowd(Game):
        start = 0

        def draw_board(self):
            return grid(2, 2, {chr(0x4E00 + i): "disc" for i in range(60)})

    assert autogui_style(Crowd()) is None
    assert position_string(Crowd(), None, 0, 1) == "1_0" and move_string(None, (1,), "b2", 1) == "b2"


def test_moves_off_the_board_are_listed(solved):
    with Solution(open_database(solved("tictactoe"))) as solution:
        choices = solution.moves(solution.start)
        pairs = touched_places(solution.game, solution.start, choices, 4)
        assert [button.places for button in buttons(pairs, ())] == [(0,), (1,), (2,), (3,), *[()] * 5]


# The page itself

PAGE = os.environ.get("GAMESMANUNI")
THEIR_ADDRESS = "https://nyc.cs.berkeley.edu/universal/v1/"
CLICKABLE = ".iag-button-point, .iag-button-arrow, #listed-moves .move, #custom-gui-tictactoe g.button rect"


LONG = {"mutorere", "chess:KPK", "lgame", "hareandhounds", "dodgem"}
"""Games that chance may not bring to their end."""


@pytest.fixture
def page_served(home, solved):
    """Serve the page, which asks our server instead of theirs; give the address."""
    server = Server(fill(home, solved, SHOWN))
    folder = Path(PAGE)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            file = folder / unquote(self.path.partition("?")[0].removeprefix("/uni").lstrip("/"))
            file = file if file.is_file() else folder / "index.html"
            content = file.read_bytes().replace(THEIR_ADDRESS.encode(), server.url.encode())
            kind = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
            self.send_response(200)
            self.send_header("Content-Type", kind.get(file.suffix, "application/octet-stream"))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{pages.server_port}/uni"
    pages.shutdown()
    pages.server_close()
    server.stop()


@pytest.mark.skipif(not PAGE, reason="GAMESMANUNI names no folder with their page")
def test_games_through_their_page(page_served):
    """Each game once, by clicks by chance, until their page says that it is over; five to their end at least."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for text, path in SHOWN.items():
            page = browser.new_page()
            errors = []
            page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
            page.goto(f"{page_served}/games/{path.replace('/', '/variants/')}")
            page.wait_for_selector("#image-autogui, #custom-gui-tictactoe")
            over = clicks_to_the_end(page, Random(text), 10 if text in LONG else 40)
            assert over or text in LONG, text
            assert errors == []
            page.close()
        browser.close()


def clicks_to_the_end(page, chance, most):
    """Click moves by chance; tell whether the game came to its end, as the page says."""
    for _ in range(most):
        page.wait_for_timeout(700)  # its animations take half a second, in which nothing can be clicked
        clickable = page.locator(CLICKABLE)
        if not clickable.count():
            return re.search(r"\b(wins|lost|loses|tie|won|game over|draw)", page.inner_text("#app"), re.IGNORECASE)
        clickable.nth(chance.randrange(clickable.count())).dispatch_event("click")
    return False
