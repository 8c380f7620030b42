"""Asks the server: by a client within this process, or of one that is a process of its own."""

import os
import shutil
import subprocess
from functools import lru_cache

import h5py
import pytest

from tests.helpers.command_line import COMMAND, environment

SERVED = ["tictactoe", "mutorere", "chess:KRK"]
"""What the folder of databases holds that most tests of the server are about."""

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "chrome"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    *(rf"C:\{folder}\Google\Chrome\Application\chrome.exe" for folder in ("Program Files", "Program Files (x86)")),
)
"""Names of browsers on the path, and where macOS and Windows have one that is on no path."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
"""Where a browser is that pages can be tested in."""

needs_browser = pytest.mark.usefixtures("browser")

FEN = "8/8/8/8/8/2k5/1R6/K7 b"


def client_of(*args):
    """Return a client of a server; *args* are those of make_app. Without any, tests of a folder share a server."""
    from fastapi.testclient import TestClient  # not above: the page and the README are tested without it

    from retrograde.cli.web.app import make_app

    app = make_app(*args) if args else usual_app(os.environ["RETROGRADE_HOME"])
    return TestClient(app, base_url="http://localhost:8000", headers={"accept": "application/json"})


@lru_cache(1)
def usual_app(home):
    """Return the server of a folder of databases: to make one takes longer than most tests."""
    from retrograde.cli.web.app import make_app

    return make_app()


def get(client, path, status=200, **parameters):
    """Return what is answered to a request, which must have a status."""
    response = client.get(path, params=parameters or None)
    assert response.status_code == status, response.text
    return response.json()


def served(client):
    """Return the variants that a server says it has."""
    return [one["variant"] for one in get(client, "/api/variants")]


def fill(home, solved, variants):
    """Put the databases of variants into a folder, and return it."""
    for text in variants:
        path = solved(text)
        (home / path.name).write_bytes(path.read_bytes())
    return home


def damage(path, dataset):
    """Change a byte in every chunk of a dataset."""
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        chunks = file[dataset].id
        for number in range(chunks.get_num_chunks()):
            chunk = chunks.get_chunk_info(number)
            content[chunk.byte_offset + chunk.size // 2] ^= 255
    path.write_bytes(content)


def play_to_the_end(page):
    """Make moves on a page, each the first that is offered, until the game is over."""
    points = "document.querySelectorAll('#history .point').length"
    for _ in range(300):
        page.wait_for_function(
            "() => !document.querySelector('#over').hidden || document.querySelector('#moves [aria-disabled=false]')"
        )
        if page.locator("#over").is_visible():
            break
        before = page.evaluate(points)
        page.locator("#moves button").first.click()
        page.wait_for_function(f"() => {points} > {before}")  # a second click might find the game over


class Server:
    """`retrograde serve` as a process of its own."""

    def __init__(self, home, *options):
        self.home = home
        command = [*COMMAND, "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, env=environment(home), stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[0]  # told once it listens: nobody need try twice

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
