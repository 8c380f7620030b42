"""The server among strangers: other hosts, other pages, slow clients, bad files, damage, and requests that
mean harm."""

import os
import random
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress

import h5py
import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web import library as libraries
from retrograde.cli.web import listen, shelf, view
from retrograde.cli.web.app import make_app
from retrograde.cli.web.hosts import Hosts, hosts_of
from retrograde.databases import DamagedDatabase, database_path
from retrograde.databases.records.read import RecordsReader

from .command_line import HEAP, retrograde
from .forge import Forged
from .test_hostile import mutate
from .test_web import client_of, get

VARIANTS = ["tictactoe", "mutorere", "chess:KRK"]
FEN = "8/8/8/8/8/2k5/1R6/K7 b"


@pytest.fixture
def home(solved, tmp_path, monkeypatch):
    """A folder of databases, which is the usual one."""
    folder = tmp_path / "home"
    folder.mkdir()
    for text in VARIANTS:
        path = solved(text)
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    return folder


@pytest.fixture
def client(home):
    return client_of()


def served(client):
    return [one["variant"] for one in get(client, "/api/variants")]


def damage(path, dataset):
    """Change a byte in every chunk of a dataset."""
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        chunks = file[dataset].id
        for number in range(chunks.get_num_chunks()):
            chunk = chunks.get_chunk_info(number)
            content[chunk.byte_offset + chunk.size // 2] ^= 255
    path.write_bytes(content)


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
    for path in ("/", "/api/variants", "/static/page.js", "/standard?fen=x", "/openapi.json", "/tictactoe/", "/none"):
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


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("/", True), ("/tictactoe/", True), ("/tictactoe", True), ("/tictactoe/regular/", True), ("/none/", True),
        ("/tictactoe/regular/positions/?p=.../.../...", True), ("/tictactoe/regular/positions/", True),
        ("/tictactoe/regular/instructions/", True), (f"/standard?fen={FEN}", True), ("/standard?fen=x", True),
        ("/api/variants", False), ("/api/position?variant=tictactoe", False), ("/api/counts?variant=tictactoe", False),
        ("/api/position?variant=none", False), ("/api/", False), ("/api", False), ("/api/x/", False),
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


@pytest.mark.parametrize(
    "path",
    [
        "/", "/api/variants", "/api/position?variant=tictactoe", "/api/counts?variant=mutorere", f"/standard?fen={FEN}",
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


# Names and files


@pytest.mark.parametrize("count", [60, 89, 300])
def test_a_name_too_long_is_not_found(client, count):
    options = "steps=" + "+".join(map(str, range(1, count + 1)))
    for path in (f"/tentozero/{options}/", f"/tentozero/{options}/positions/?p=1", f"/{options}/", f"/{options}/x/"):
        get(client, path, 404)
    get(client, "/api/position", 404, variant=f"tentozero:{options}")
    get(client, "/api/counts", 404, variant="é" * 200)
    get(client, "/api/counts", 404, variant="tictactoe\0")


def test_what_is_too_long_altogether(client):
    assert "address" in get(client, "/" + "x" * 9000, 414)["error"]
    assert "address" in get(client, "/standard", 414, fen="x" * 9000)["error"]
    response = client.get("/", headers={"x": "y" * 20_000})
    assert (response.status_code, "headers" in response.json()["error"]) == (431, True)


def bad_files(home):
    """Put things of many kinds where databases should be; return the variants that they stand for."""
    (home / "dodgem.h5").mkdir()
    (home / "lgame.h5").write_bytes(b"junk")
    (home / "tentozero.h5").write_bytes(b"")
    (home / "connect4.h5").symlink_to(home / "nowhere")
    (home / "chess,KQK.h5").symlink_to(home / "chess,KQK.h5")
    (home / "chess,KPK.h5").write_bytes((home / "chess,KRK.h5").read_bytes()[:3000])
    damage(home / "mutorere.h5", "legend")
    variants = ["dodgem", "lgame", "tentozero", "connect4", "chess:KQK", "chess:KPK", "mutorere"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(home / "hareandhounds.h5")
        with socket.socket(socket.AF_UNIX) as sock:
            where = os.getcwd()
            os.chdir(home)  # the names of such sockets are short
            sock.bind("tictactoe,misere=yes.h5")
            os.chdir(where)
        variants += ["hareandhounds", "tictactoe:misere"]
    return variants


def test_bad_files_hinder_nothing(home, client):
    bad = bad_files(home)
    assert served(client) == ["chess:KRK", "tictactoe"]
    assert [game["id"] for game in get(client, "/")] == ["chess", "tictactoe"]
    assert [one["id"] for one in get(client, "/chess/")["variants"]] == ["KRK"]
    assert get(client, "/standard", fen=FEN)["dtm"] == -32
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
    for text in bad:
        assert "cannot be read now" in get(client, "/api/position", 503, variant=text)["error"], text


@pytest.mark.parametrize("error", [MemoryError(), OSError(24, "Too many open files"), KeyError("x"), RecursionError()])
def test_whatever_reading_a_file_raises_hinders_nothing(home, client, monkeypatch, error):
    read = shelf.read_facts

    def fail(path):
        if path.name == "mutorere.h5":
            raise error
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(shelf, "read_facts", fail)
        assert served(client) == ["chess:KRK", "tictactoe"]
    assert served(client) == ["chess:KRK", "mutorere", "tictactoe"]  # such a failure may pass


def test_a_file_that_vanishes_meanwhile(home, client, monkeypatch):
    list_databases = shelf.list_databases
    monkeypatch.setattr(shelf, "list_databases", lambda: [home / "gone.h5", *list_databases()])
    assert len(served(client)) == 3
    facts = libraries.Shelf().find("tictactoe")
    database_path("tictactoe", home).unlink()
    with pytest.raises(libraries.Unavailable, match="is gone"):
        client.app.state.library.open(facts)


def test_lists_need_no_rules(home, client, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a list asks for rules")

    for name in ("load_game", "named_game", "open_database"):
        monkeypatch.setattr(libraries, name, forbidden)
    assert served(client) == ["chess:KRK", "mutorere", "tictactoe"]
    assert len(get(client, "/")) == 3 and get(client, "/chess/")["variants"]


def test_facts_are_read_once_for_each_state_of_a_file(home, client, monkeypatch):
    read, calls = shelf.read_facts, []
    monkeypatch.setattr(shelf, "read_facts", lambda path: calls.append(path.name) or read(path))
    served(client), served(client)
    assert sorted(calls) == ["chess,KRK.h5", "mutorere.h5", "tictactoe.h5"]
    path = database_path("tictactoe", home)
    path.write_bytes(path.read_bytes())
    served(client)
    assert calls[3:] == ["tictactoe.h5"]


def test_neither_a_file_nor_a_request_names_code(home, tmp_path, monkeypatch):
    """Databases whose variants are paths, and requests that are: the module they mean leaves no mark."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "mark"
    for folder in (home, tmp_path):
        (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\n{HEAP}")
    names = ["evil", f"{tmp_path}/evil", f"{tmp_path}/evil.py", f"{home}/evil.py:size=3", "../evil.py", "evil.py"]
    names += ["./evil.py", "connect4:./evil.py", "tictactoe:evil.py"]
    forged = Forged.read(database_path("tictactoe", home))
    for number, name in enumerate(names):
        forged.attributes |= {"variant": name, "game": name.partition(":")[0]}
        forged.write(home / f"{number}.h5")
    client = client_of()
    assert set(served(client)) == {*VARIANTS, *names}
    get(client, "/"), get(client, "/standard", fen=FEN)
    for name in [*names, "evil:x.py", "./evil", "connect4:evil.py"]:
        assert client.get("/api/position", params={"variant": name}).status_code in (404, 503)
        assert client.get(f"/{name.replace('/', '%2F')}/regular/").status_code in (404, 503)
    assert not mark.exists()


def answered_or_told(client, path, variant):
    """Ask for what lies may make impossible, but then it is one line (500 where the rules choke on them)."""
    response = client.get(f"/api/{path}", params={"variant": variant})
    if response.status_code != 200:
        assert response.status_code in (400, 404, 500, 503)
        assert list(response.json()) == ["error"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_forged_files_hinder_nothing(home, client, seed):
    """A home full of what somebody made who knows the format; each is asked for what it says that it is."""
    chance = random.Random(seed)
    forged = 0
    for number in range(40):
        file = Forged.read(database_path(chance.choice(VARIANTS), home))
        mutate(file, chance)
        with suppress(ValueError, TypeError, OSError, KeyError):  # HDF5 itself does not write that
            file.write(home / f"{number}.h5")
            forged += 1
    assert forged > 20
    for text in (variants := served(client)):
        for path in ("position", "counts"):
            answered_or_told(client, path, text)
    assert set(variants) >= set(VARIANTS)
    for text in VARIANTS:
        database_path(text, home).unlink()  # so that the forged ones have their turn
    for text in VARIANTS:
        for path in ("position", "counts"):
            answered_or_told(client, path, text)
    assert client.get("/standard", params={"fen": FEN}).status_code in (200, 503)


def test_of_two_files_of_a_variant_the_one_with_its_name_is_served(home, client):
    other = home / "another.h5"
    other.write_bytes(database_path("tictactoe", home).read_bytes())
    assert served(client).count("tictactoe") == 1
    assert shelf.Shelf().find("tictactoe").path.name == "tictactoe.h5"
    database_path("tictactoe", home).unlink()
    assert shelf.Shelf().find("tictactoe").path == other
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
    (home / "dodgem.h5").write_bytes(other.read_bytes())  # a name that is not its own
    assert "cannot be read" in get(client, "/api/position", 503, variant="dodgem")["error"]


def test_few_databases_are_open_at_once(home, client, monkeypatch):
    monkeypatch.setattr(libraries, "MOST_OPEN", 2)
    for text in [*VARIANTS, *VARIANTS]:
        assert get(client, "/api/counts", variant=text)
        assert len(client.app.state.library.opened) <= 2


def test_rules_that_are_not_at_hand(home, tmp_path):
    rules = tmp_path / "mislaid.py"  # a name that no other test has
    rules.write_text(HEAP)
    retrograde("solve", rules)
    assert get(client_of([str(rules)]), "/api/position", variant="mislaid")["summary"].startswith("Take one")
    rules.unlink()
    client = client_of()
    assert "mislaid" in served(client)
    assert "not at hand" in get(client, "/api/position", 503, variant="mislaid")["error"]


# Damage found late, and the unforeseen


def test_damage_found_late(home, client):
    damage(database_path("chess:KRK", home), "slots")
    assert "chess:KRK" in served(client)
    for path in (f"/api/position?variant=chess:KRK&position={FEN}", f"/chess/KRK/positions/?p={FEN}",
                 f"/standard?fen={FEN}"):  # fmt: skip
        error = get(client, path, 503)["error"]
        assert "cannot be read now" in error and home.name not in error
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"


def test_another_database_has_the_ending_as_well(home, client, solved):
    (home / "chess,KPK.h5").write_bytes(solved("chess:KPK").read_bytes())  # with what a pawn may become
    damage(home / "chess,KPK.h5", "slots")
    assert get(client, "/standard", fen=FEN)["dtm"] == -32
    database_path("chess:KRK", home).unlink()
    get(client, "/standard", 503, fen=FEN)
    pawn = "8/8/8/3k4/8/8/4P3/K7 w"
    get(client, "/standard", 503, fen=pawn)
    (home / "chess,KPK.h5").write_bytes(solved("chess:KPK").read_bytes())
    assert get(client, "/standard", fen=pawn)["category"] in ("win", "draw")


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), DamagedDatabase("/home/alice/x.h5 is damaged")])
def test_an_error_of_the_disk(client, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(RecordsReader, "read_block", fail)
    answer = get(client, "/api/position", 503, variant="tictactoe")
    assert "cannot be read now" in answer["error"] and "alice" not in answer["error"]


@pytest.mark.parametrize("error", [RuntimeError("secret"), ValueError("secret"), MemoryError(), SystemExit(3)])
def test_the_unforeseen_is_one_line(client, monkeypatch, caplog, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(view, "position", fail)
    response = client.get("/api/position", params={"variant": "tictactoe"})
    assert (response.status_code, response.headers["content-type"]) == (500, "application/json")
    assert list(response.json()) == ["error"] and type(error).__name__ in response.json()["error"]
    assert "secret" not in response.text and "Traceback" not in response.text
    assert "Traceback" in caplog.text  # for who runs the server
    assert response.headers["x-content-type-options"] == "nosniff"


def test_what_is_told_to_who_runs_the_server_moves_no_cursor(client, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("a\x1b[2Jb")

    monkeypatch.setattr(view, "position", fail)
    get(client, "/api/position", 500, variant="tictactoe\x1b"[:-1])
    assert "\\x1b[2J" in caplog.text and "\x1b" not in caplog.text


# Sockets


@contextmanager
def listening(monkeypatch, **times):
    """A server on a free port of this machine, in a thread: its port."""
    for name, value in times.items():
        monkeypatch.setattr(listen, name, value)
    sock = listen.bound_socket("127.0.0.1", 0)
    sock.listen()
    begun = threading.Event()
    server = listen.make_server(make_app(), begun.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        assert begun.wait(30)
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def talk(port, *parts, pause=0.0):
    """Send parts, one after another; return what comes until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        answer = b""
        try:
            for part in parts:
                sock.sendall(part)
                time.sleep(pause)
            while more := sock.recv(65536):
                answer += more
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def hung_up(sock):
    """Wait until the other end has hung up."""
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


WHOLE = b"GET /api/variants HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_slow_clients_are_hung_up_on(home, monkeypatch):
    """Where the server waits for ever, each of these does; and nobody else waits meanwhile."""
    begun = b"GET /api/variants HTTP/1.1\r\nHost: localhost\r\n"
    with listening(monkeypatch, REQUEST_TIME=0.2) as port:
        assert talk(port) == b""
        assert talk(port, b"GET / HT") == b""
        assert talk(port, begun) == b""
        assert talk(port, *[b"G", *[b"E"] * 20], pause=0.05) == b""  # a byte now and then is no excuse
        talk(port, begun + b"Content-Length: 1000\r\n\r\n", b"x")
    with listening(monkeypatch, REQUEST_TIME=30, IDLE_TIME=0.2) as port:
        assert talk(port, WHOLE).startswith(b"HTTP/1.1 200 OK\r\n")  # then nothing more is asked
        assert talk(port, WHOLE * 20).count(b"HTTP/1.1 200 OK") == 20
    with listening(monkeypatch, IDLE_TIME=30) as port, socket.create_connection(("127.0.0.1", port), 30) as slow:
        slow.sendall(WHOLE)
        assert slow.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        slow.sendall(begun)
        closing = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        assert talk(port, closing).startswith(b"HTTP/1.1 200 OK\r\n")
    with listening(monkeypatch, IDLE_TIME=30) as port, socket.create_connection(("127.0.0.1", port), 30) as slow:
        slow.sendall(WHOLE)
        assert slow.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        monkeypatch.setattr(listen, "REQUEST_TIME", 0.2)
        slow.sendall(begun)
        assert hung_up(slow)


def test_connections_are_counted(home, monkeypatch):
    closing = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with listening(monkeypatch, REQUEST_TIME=30, MOST_CONNECTIONS=3) as port:
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        assert talk(port, closing).startswith(b"HTTP/1.1 503 ")
        for sock in waiting:
            sock.close()
        while not talk(port, closing).startswith(b"HTTP/1.1 200 OK\r\n"):
            time.sleep(0.05)  # until the server has noticed


def test_who_takes_no_answer_is_hung_up_on(home, monkeypatch):
    request = WHOLE.replace(b"/api/variants", b"/openapi.json")
    with listening(monkeypatch, ANSWER_TIME=0.4) as port, socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(30)
        sock.connect(("127.0.0.1", port))
        with pytest.raises(ConnectionError):  # the server has hung up
            sock.sendall(request * 100_000)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"\0\xff\r\n\r\n", b"GET \xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 200_000,
    ],
    ids=lambda sent: ascii(sent[:60]),
)  # fmt: skip
def test_what_is_no_request(home, monkeypatch, sent):
    with listening(monkeypatch) as port:
        answer = talk(port, sent)
        if answer:  # where the server hung up while much was being sent, the answer may be lost
            assert answer.startswith(b"HTTP/1.1 400 ") and answer.endswith(b'"}') and b'{"error":"' in answer
        else:
            assert len(sent) > 100_000


def test_a_port_is_told_or_why_not(home, monkeypatch):
    assert "cannot listen on" in retrograde("serve", "--host", "x" * 70, status=1).stderr
    assert "no host 'a/b'" in retrograde("serve", "--port", "0", "--allow-host", "a/b", status=2).stderr
    with socket.socket() as taken:  # bound, but nobody listens yet
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = retrograde("serve", "--port", str(taken.getsockname()[1]), status=1)
        assert "try another --port" in result.stderr and "http://" not in result.output


# Requests that mean harm

PATHS = [
    "api", "variants", "position", "reply", "counts", "standard", "static", "page.js", "tictactoe", "connect4", "chess",
    "regular", "KRK", "positions", "instructions", "..", ".", "", "%2e%2e", "%2F", "%00", "%ff", "%0d%0a", "é", "~root",
    "evil.py", "C:", "\\", "{game}", "width=4,height=4", "width=99999999999999999999", "misere", "a=b=c", ",,,", ":",
    "*", "x" * 300, "1+2+3", "openapi.json", "etc", "passwd",
]  # fmt: skip
NAMES = ["variant", "position", "p", "fen", "last", "line", "skill", "seed", "x", "", "é", "%00"]
VALUES = [
    "tictactoe", "mutorere", "chess:KRK", "chess:KRKKKKKKK", "chess:", "connect4:99,99", "tentozero:steps=-1", "random",
    ".../.../...", "XXX/OOO/...", "XX./OO./...", "8/8/8/8/8/2k5/1R6/K7 b", "8/8/8/8/8/2k5/1R6/K7_w_-_-", "9" * 390,
    "-1", "1e400", "nan", "inf", "0.5", "true", "0,1,2", "99999,-1", "٣", "\0", "\x1b[2J", "é" * 100, "/etc/passwd",
    "./evil.py", "x" * 380, "K" * 64, "/" * 7, "kK6/8/8/8/8/8/8/8 w", "", " ", "%", "../tictactoe", "1" * 5000,
]  # fmt: skip


def hostile_request(chance):
    """Return a method, an address and headers."""
    path = "/" + "/".join(chance.choices(PATHS, k=chance.randrange(5))) + chance.choice(["", "/"])
    if chance.random() < 0.5:
        likely = ("/api/position", "/api/reply", "/api/counts", "/standard", "/tictactoe/regular/positions/")
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


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_no_request_makes_the_server_fail(home, client, seed):
    chance = random.Random(seed)
    statuses = set()
    for _ in range(400):
        method, path, query, headers = hostile_request(chance)
        response = client.request(method, path, params=query or None, headers=headers)
        statuses.add(response.status_code)
        assert response.status_code < 500, (method, path, query, headers, response.text)
        assert str(home) not in response.text and sys.prefix not in response.text
        if response.status_code >= 400 and method != "HEAD" and "range" not in headers:
            assert list(response.json()) == ["error"] and "\n" not in response.json()["error"], response.text
        if headers.get("host") == "evil.example":
            assert response.status_code in (414, 421)
    assert {200, 400, 404, 405, 421, 422} <= statuses
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"
