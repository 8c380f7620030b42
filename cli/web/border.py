"""The middleware that every request passes first, and every answer last.

- Requests for a host that is not ours are refused (hosts.py), and so are those with a very long address or headers.
- Pages from elsewhere may read the two APIs for other programs, and nothing else. Only those answers have
  `Access-Control-Allow-Origin`.
- Requests that change something are accepted from our own page only. A browser says where a request comes from
  (`Origin`, `Sec-Fetch-Site`). Other pages can neither read nor send the token that such a request needs (solves.py).
- No other page may show ours in a frame, where it could misdirect the user's clicks.
- HEAD is answered like GET, without the content.
- An unexpected error is answered with one line of JSON; the server's own output has more.
"""

import logging
import re
import traceback
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retrograde.cli.web.hosts import Hosts

PUBLIC = re.compile(r"/|/(?!(?:api|static|openapi\.json)(?:/|$))[^/]+(?:/.*)?", re.DOTALL)
"""Paths of the APIs of GamesCrafters and Lichess."""

LONGEST_ADDRESS, LONGEST_HEADERS = 8 << 10, 16 << 10
"""In bytes."""
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
FOR_ALL = {"Access-Control-Allow-Origin": "*"}
FOR_US = {"Cross-Origin-Resource-Policy": "same-origin"}

log = logging.getLogger(__name__)


class Border:
    """An ASGI application inside this middleware."""

    def __init__(self, app: ASGIApp, hosts: Hosts):
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        without_content = scope["method"] == "HEAD"
        has_begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message = {
                    **message,
                    "headers": [*message["headers"], *headers_to_add(scope, message, refusal is None)],
                }
            elif without_content:
                message = {**message, "body": b""}
            await send(message)

        try:
            scope_for_app = {**scope, "method": "GET"} if without_content else scope
            await (refusal or self.app)(scope_for_app, receive, send_with_headers)
        except (Exception, SystemExit) as error:  # a user's rules may raise anything
            log.error("no answer to %a: %s", scope["path"], trace(error))
            if has_begun:
                raise
            message_text = f"the server failed at this, by {type(error).__name__}; its own output says more"
            await error_response(message_text, 500)(scope, receive, send_with_headers)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        """Return the answer to a request that is too long or not for us; None for all others."""
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return error_response(f"the address is longer than {LONGEST_ADDRESS:,} bytes", 414)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEADERS:
            return error_response(f"the headers are longer than {LONGEST_HEADERS:,} bytes", 431)
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) != 1:
            return error_response("the request needs exactly one header Host, with the name of this server", 400)
        if self.hosts.include(hosts[0]):
            if scope["method"] != "POST" or is_from(hosts[0], Headers(scope=scope)):
                return None
            reason = "this request comes from a page of another server; only this server's own page may send it"
            return error_response(reason, HTTPStatus.FORBIDDEN)
        reason = f"nothing is served for the host {hosts[0][:100]!r}; where it should be: retrograde serve --allow-host"
        return error_response(reason, HTTPStatus.MISDIRECTED_REQUEST)


def is_from(host: str, headers: Headers) -> bool:
    """Return whether a request may come from a page of that host: no header contradicts it.

    >>> sites = ["http://localhost:8000", "https://localhost:8000", "http://evil.example", "null"]
    >>> [is_from("localhost:8000", Headers({"origin": site})) for site in sites]
    [True, True, False, False]
    """
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return False
    return headers.get("sec-fetch-site", "same-origin") == "same-origin"


def error_response(reason: str, status: int) -> JSONResponse:
    return JSONResponse({"error": reason}, status)


def trace(error: BaseException) -> str:
    """Return the traceback of an error, with control characters escaped."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return "\n".join(line if line.isprintable() else ascii(line) for line in lines)


def headers_to_add(scope: Scope, message: Message, accepted: bool) -> list[tuple[bytes, bytes]]:
    """Return the headers to add to an answer; *accepted* says that the request was not refused."""
    is_page = Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
    public = accepted and not is_page and PUBLIC.fullmatch(scope["path"])
    added = HEADERS | (FOR_ALL if public else FOR_US)
    if scope["path"] == "/":
        added["Vary"] = "Accept"
    return [(name.lower().encode(), value.encode()) for name, value in added.items()]
