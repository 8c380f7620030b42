"""Who is answered, and by which methods: other hosts, pages from elsewhere, a proxy, HEAD and what is no GET."""

import socket

import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web.hosts import Hosts, hosts_of
from tests.helpers.serving import FEN, SERVED, client_of, fill

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def filled(solved, tmp_path_factory):
    return fill(tmp_path_factory.mktemp("home"), solved, SERVED)


@pytest.fixture
def home(filled, monkeypatch):
    """A folder of databases for all tests, so that they share a server."""
    monkeypatch.setenv("RETROGRADE_HOME", str(filled))
    return filled


# Hosts and pages from elsewhere


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("localhost:8000", 200), ("LOCALHOST.:1", 200), ("127.0.0.1:8000", 200), ("127.0.0.1", 200),
        ("[::1]:8000", 200), ("[::1]", 200),
        ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("192.0.2.1", 421),
        ("0.0.0.0:8000", 421), ("evil.example:8000", 421), ("localhost@evil.example", 421), ("[::2]", 421),
        ("127.1", 421), ("a b", 421), ("", 421), ("localhost:8000:9", 421), ("[::1", 421), ("localhost/", 421),
        ("x" * 300, 421),
    ],
)  # fmt: skip
def test_only_hosts_that_are_ours_are_answered(client, host, status):
    paths = ("/", "/api/variants", "/static/page.js", "/standard?fen=x", "/openapi.json", "/tictactoe/", "/none")
    for path in paths if host in ("localhost", "evil.example") else paths[1:2]:
        response = client.get(path, headers={"host": host, "origin": "http://evil.example"})
        assert (response.status_code == 421) == (status == 421), response.text
        if status == 421:
            assert "nothing is served for the host" in response.json()["error"]
            assert "access-control-allow-origin" not in response.headers


def test_hosts_by_what_is_listened_to(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Garden")
    everywhere = hosts_of("0.0.0.0", "0.0.0.0", ["Games.Example"])
    for host in ("192.0.2.7:8000", "[2001:db8::1]", "garden:8000", "garden.local", "games.example", "[::1]"):
        assert everywhere.include(host)
    for host in ("evil.example", "garden.evil.example", "xgames.example", "192.0.2.7.evil.example"):
        assert not everywhere.include(host)
    assert hosts_of("::", "::").include("192.0.2.7")
    one = hosts_of("myhost", "192.0.2.7")
    assert one.include("myhost:80") and one.include("192.0.2.7:80") and one.include("127.0.0.1")
    assert not one.include("192.0.2.8") and not one.include("garden")
    assert hosts_of("2001:db8::1", "2001:db8::1").include("[2001:DB8:0::1]:8000")
    with pytest.raises(ValueError, match="no host 'a/b'"):
        hosts_of("127.0.0.1", "127.0.0.1", ["a/b"])


def test_a_proxy_is_allowed_by_name(home):
    client = client_of((), Hosts(frozenset({"games.example"})))
    assert client.get("/api/variants", headers={"host": "games.example"}).status_code == 200
    assert client.get("/api/variants", headers={"host": "other.example"}).status_code == 421


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("/", True), ("/tictactoe/", True), ("/tictactoe", True), ("/tictactoe/regular/", True), ("/none/", True),
        ("/tictactoe/regular/positions/?p=.../.../...", True), ("/tictactoe/regular/positions/", True),
        ("/tictactoe/regular/instructions/", True), (f"/standard?fen={FEN}", True), ("/standard?fen=x", True),
        ("/api/variants", False), ("/api/position?variant=tictactoe", False),
        ("/api/database?variant=tictactoe", False), ("/api/download?variant=tictactoe", False),
        ("/api/position?variant=none", False), ("/api/gallery", False), ("/api/about?variant=none", False),
        ("/api/game?variant=tictactoe", False), ("/api/picture?variant=tictactoe", False), ("/api/solves", False),
        ("/api/", False), ("/api", False), ("/api/x/", False),
        ("/%61pi/variants", False), ("/api%2Fvariants", False),
        ("/static/page.js", False), ("/static/none", False), ("/openapi.json", False),
    ],
)  # fmt: skip
def test_pages_from_elsewhere_read_the_public_apis_only(client, path, public):
    response = client.get(path, headers={"origin": "http://evil.example"}, follow_redirects=False)
    assert response.headers.get("access-control-allow-origin") == ("*" if public else None)
    assert response.headers.get("cross-origin-resource-policy") == (None if public else "same-origin")
    assert "access-control-allow-credentials" not in response.headers


def test_the_page_itself_is_for_itself(client):
    response = client.get("/", headers={"accept": "text/html"})
    assert response.text.startswith("<!doctype html>")
    assert "access-control-allow-origin" not in response.headers
    assert response.headers["vary"] == "Accept"


# Methods


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [
        "/", "/api/variants", "/api/position?variant=tictactoe", "/api/database?variant=mutorere",
        f"/standard?fen={FEN}",
        "/api/reply?variant=tictactoe&position=.../.../...", "/tictactoe/", "/tictactoe/regular/", "/openapi.json",
        "/tictactoe/regular/positions/?p=.../.../...", "/tictactoe/regular/instructions/", "/static/page.js", "/none/",
        "/standard",
    ],
)  # fmt: skip
@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_head_is_get_without_the_content(client, path, accept):
    one, other = (client.request(method, path, headers={"accept": accept}) for method in ("GET", "HEAD"))
    assert one.content and not other.content
    if "/api/reply" in path:  # by chance
        one.headers.pop("content-length"), other.headers.pop("content-length")
    assert (one.status_code, dict(one.headers)) == (other.status_code, dict(other.headers))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "NONSENSE"])
def test_other_methods_are_not_allowed(client, method):
    for path in ("/", "/api/variants", "/tictactoe/regular/", "/standard"):
        response = client.request(method, path)
        assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
        assert response.headers["allow"] == "GET, HEAD"
    assert client.request(method, "/static/page.js").status_code == 405
