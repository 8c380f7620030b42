"""A server on a socket that closes slow connections.

| a connection | is closed after |
|---|---|
| whose request is incomplete | REQUEST_TIME |
| without a further request | IDLE_TIME |
| whose client does not read the answer | ANSWER_TIME |
"""

import asyncio
import socket
from collections.abc import Callable

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_TIME, IDLE_TIME, ANSWER_TIME = 10.0, 10, 30.0
"""In seconds."""
LONGEST_HEAD = 32 << 10
"""The bytes of an incomplete request's address and headers that are kept."""
MOST_CONNECTIONS = 200
"""The number of connections at once; more get status 503."""
LAST_ANSWERS = 3
"""Seconds for requests in progress when the server ends."""


class PatientProtocol(H11Protocol):
    """A connection that is closed if its client is too slow."""

    deadline: asyncio.TimerHandle | None = None
    writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn's own
        super().connection_made(transport)
        self.expect_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.expect_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.expect_request()

    def expect_request(self) -> None:
        """Start the timer when a connection opens or a request begins; it stops when the request is complete."""
        is_complete = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        # Between two requests uvicorn's own timer runs, until the first bytes of the next one.
        waits_for_next = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is not None
        if is_complete or waits_for_next:
            self.expect_no_more()
        elif self.deadline is None:
            self.deadline = self.loop.call_later(REQUEST_TIME, self.transport.abort)

    def expect_no_more(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
        self.deadline = None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self.writing is None:
            self.writing = self.loop.call_later(ANSWER_TIME, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.writing is not None:
            self.writing.cancel()
        self.writing = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.expect_no_more()
        self.resume_writing()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer data that is not a request, unless an answer is in progress."""
        if self.conn.our_state is not h11.IDLE:
            self.transport.close()
            return
        body = b'{"error":"this is no request of HTTP/1.1 with a header Host, or its head is too long"}'
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        for event in (h11.Response(status_code=400, headers=headers, reason=b"Bad Request"), h11.Data(data=body)):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """A server that reports when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], object]):
        super().__init__(config)
        self.listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.listening()


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a bound socket; raise OSError if that fails, UnicodeError if *host* is not a valid name."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # only then asyncio sets TCP_NODELAY
    try:
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)  # Windows: reuse would take others' ports
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if exclusive is None else exclusive, 1)
        sock.bind((host, port))
    except BaseException:
        sock.close()
        raise
    return sock


def make_server(app: ASGIApp, listening: Callable[[], object]) -> Server:
    """Return a server to run on a socket; it calls *listening* once it accepts requests."""
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        timeout_keep_alive=IDLE_TIME,
        timeout_graceful_shutdown=LAST_ANSWERS,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )
    return Server(config, listening)
