"""Requests that mean harm, made by chance: none makes the server fail, or tell where it is."""

import random
import sys

import pytest

pytest.importorskip("fastapi")

from tests.helpers.serving import get

pytestmark = pytest.mark.long

PATHS = [
    "game", "scorecard", "pgn", "gallery", "about", "picture", "solves", "solve", "cancel",
    "api", "variants", "position", "reply", "counts", "standard", "static", "page.js", "tictactoe", "connect4", "chess",
    "regular", "KRK", "positions", "instructions", "..", ".", "", "%2e%2e", "%2F", "%00", "%ff", "%0d%0a", "é", "~root",
    "evil.py", "C:", "\\", "{game}", "width=4,height=4", "width=99999999999999999999", "misere", "a=b=c", ",,,", ":",
    "*", "x" * 300, "1+2+3", "openapi.json", "etc", "passwd",
]  # fmt: skip
NAMES = [
    "variant", "position", "moves", "first", "finished", "p", "fen", "last", "line", "skill", "seed", "x", "", "é",
    "%00",
]  # fmt: skip
VALUES = [
    "a1,b1,a2", ",,,", "Kb1,%2C", "a%", "a1," * 90,
    "tictactoe", "mutorere", "chess:KRK", "chess:KRKKKKKKK", "chess:", "connect4:99,99", "tentozero:steps=-1", "random",
    ".../.../...", "XXX/OOO/...", "XX./OO./...", "8/8/8/8/8/2k5/1R6/K7 b", "8/8/8/8/8/2k5/1R6/K7_w_-_-", "9" * 390,
    "-1", "1e400", "nan", "inf", "0.5", "true", "0,1,2", "99999,-1", "٣", "\0", "\x1b[2J", "é" * 100, "/etc/passwd",
    "./evil.py", "x" * 380, "K" * 64, "/" * 7, "kK6/8/8/8/8/8/8/8 w", "", " ", "%", "../tictactoe", "1" * 5000,
]  # fmt: skip


def hostile_request(chance):
    """Return a method, an address and headers."""
    path = "/" + "/".join(chance.choices(PATHS, k=chance.randrange(5))) + chance.choice(["", "/"])
    if chance.random() < 0.5:
        likely = ("/api/position", "/api/reply", "/api/database", "/standard", "/tictactoe/regular/positions/",
                  "/api/game", "/api/scorecard", "/api/pgn", "/api/about", "/api/picture", "/api/solve")  # fmt: skip
        path = chance.choice(likely)
    query = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(5))}
    if chance.random() < 0.6:
        query |= {"variant": chance.choice(VALUES[:4]), "position": chance.choice(VALUES)}
    headers = {"accept": chance.choice(["text/html", "application/json", "\x01", "x" * 2000])}
    if chance.random() < 0.2:
        headers["host"] = chance.choice(["evil.example", "localhost", "", "[", "\x00", "a" * 500, "127.0.0.1:99999999"])
    if chance.random() < 0.2:
        headers["range"] = chance.choice(["bytes=0-", "bytes=9999999-", "bytes=-1", "bytes=" + "0-1," * 500, "x"])
    return chance.choice(["GET"] * 8 + ["HEAD", "POST"]), path, query, headers


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_no_request_makes_the_server_fail(home, client, seed):
    chance = random.Random(seed)
    address = str(client.base_url).rstrip("/")  # of "//" alone the client would make another
    statuses = set()
    for _ in range(400):
        method, path, query, headers = hostile_request(chance)
        response = client.request(method, address + path, params=query or None, headers=headers)
        statuses.add(response.status_code)
        assert response.status_code < 500, (method, path, query, headers, response.text)
        assert str(home) not in response.text and sys.prefix not in response.text
        if response.status_code >= 400 and method != "HEAD" and "range" not in headers:
            assert list(response.json()) == ["error"] and "\n" not in response.json()["error"], response.text
        if headers.get("host") == "evil.example":
            assert response.status_code in (414, 421)
    assert {200, 400, 404, 405, 421, 422} <= statuses
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
