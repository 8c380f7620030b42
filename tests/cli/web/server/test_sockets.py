"""Connections: slow clients, too many of them, who takes no answer, what is no request, and ports that are taken."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web import listen
from retrograde.cli.web.app import make_app
from tests.helpers.command_line import retrograde

pytestmark = pytest.mark.long


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


@pytest.mark.thorough
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
