"""The server: a page for people, and JSON for programs, of databases.

    /                           the page: the gallery, and with ?v=… a game; for who does not ask for HTML,
                                GamesCrafters' list of games
    /<game>/<variant>/…         GamesCrafters' web API       (gamescrafters.py)
    /standard?fen=…             Lichess' tablebase API, /standard/mainline too (lichess.py)
    /api/…                      what the page asks for       (view.py, gallery.py), in the forms of answers.py
    /openapi.json               what all of it takes and gives

All of it is answered by GET and HEAD, but for two wishes of the page, to solve a game and to stop it (solves.py), which
are POST; and for the hosts in hosts.py only. GamesCrafters' and Lichess' APIs may be read by pages from anywhere, the
rest only by our own page (border.py). No request names a file, or code (library.py).

Requests run side by side on three kinds of threads, so that none waits for a slow one of another kind: one thread for
all that databases answer, a few milliseconds each; one for searches of games without a database; and others for lists
of variants and pictures, which need no open database.
"""

import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from retrograde.cli.web import answers, gallery, gamescrafters, lichess, view
from retrograde.cli.web.border import Border
from retrograde.cli.web.hosts import Hosts
from retrograde.cli.web.library import SECONDS, Answering, Library, Unavailable
from retrograde.cli.web.measured import count_at
from retrograde.cli.web.shelf import installed
from retrograde.cli.web.solves import Busy, NotSolvedHere, Solves
from retrograde.databases import NoDatabase, NotADatabase, NotInDatabase, OtherRules, VersionTooNew
from retrograde.games import RetrogradeError, VariantError

STATIC = Path(__file__).parent / "static"
LONGEST_TEXT = 400
LARGE = 4 << 10
"""Bytes of an answer above which it is compressed, for those who say that they can read it."""
COMPRESSION = 4
"""Of gzip: more takes longer than it saves on any line."""
LONGEST_GAME = 5000
"""Characters of the moves of a game."""

SOLVE, CANCEL = "/api/solve", "/api/cancel"
"""What is no question but a wish."""

log = logging.getLogger(__name__)


def as_json(answer: BaseModel, bare: bool = False) -> Response:
    """Return an answer that is a model already, and need not be validated once more; if *bare* without what is None."""
    return Response(answer.model_dump_json(exclude_none=bare), media_type="application/json")


class Error(BaseModel):
    """Why there is no answer."""

    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "the request makes no sense"},
    403: {"model": Error, "description": "this server solves no games, or not for who asks"},
    404: {"model": Error, "description": "there is no such game, variant or position here"},
    409: {"model": Error, "description": "another game is being solved"},
    421: {"model": Error, "description": "the request is for another host"},
    422: {"model": Error, "description": "a parameter is missing or of the wrong kind"},
    500: {"model": Error, "description": "the server failed, or the rules of the game did"},
    503: {"model": Error, "description": "a database cannot be read at the moment"},
}

ERRORS_AS_JSON: dict[int | str, dict[str, Any]] = {
    status: {
        "description": about["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for status, about in ERRORS.items()
}
"""For answers that are no JSON themselves."""

Text = Annotated[str, Query(max_length=LONGEST_TEXT)]
Moves = Annotated[str, Query(max_length=LONGEST_GAME)]
Count = Annotated[int, Query(ge=0, le=1_000_000)]
Token = Annotated[str | None, Header(alias="x-retrograde", max_length=100)]


def make_app(
    variants: Sequence[str] = (), hosts: Hosts | None = None, allow_solve: bool = False, seconds: float = SECONDS
) -> FastAPI:
    """Return the server for the variants given, or for all that have databases; for the loopback's names by default.

    Where others may ask it, it solves games on request, and searches those that have no database, only if that is
    allowed; variants that are given are searched in any case. A search takes so many *seconds*.
    """
    hosts = hosts or Hosts()
    works = allow_solve or not hosts.are_open
    library = Library(variants, seconds, works)
    solves = Solves(allowed=works, frank=not hosts.are_open)
    app = FastAPI(
        title="retrograde", version=version("retrograde"), description=__doc__ or "", responses=ERRORS,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.library, app.state.solves = library, solves
    app.mount("/static", StaticFiles(directory=STATIC), "static")

    app.add_middleware(GZipMiddleware, minimum_size=LARGE, compresslevel=COMPRESSION)
    app.add_middleware(Border, hosts=hosts)
    answer_errors(app)
    offer_page(app, library)
    offer_games(app, library)
    offer_gallery(app, library, solves)
    offer_lichess(app, library)
    offer_gamescrafters(app, library)
    return app


def answer_errors(app: FastAPI) -> None:
    """Let errors be answered in one line of JSON."""

    @app.exception_handler(RetrogradeError)
    @app.exception_handler(OSError)
    async def explain(request: Request, error: Exception) -> JSONResponse:
        status = status_of(error)
        if status == 503 and not isinstance(error, Unavailable):  # found late; its words name folders of this machine
            log.error("no answer to %a: %a", str(request.url), str(error))
            return JSONResponse({"error": "a database cannot be read now; this server's own output says more"}, status)
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(HTTPException)
    async def explain_path(request: Request, error: HTTPException) -> JSONResponse:
        asked = request.url.path in (SOLVE, CANCEL)
        headers = {"Allow": "POST" if asked else "GET, HEAD"} if error.status_code == 405 else error.headers
        return JSONResponse({"error": str(error.detail).lower()}, error.status_code, headers)

    @app.exception_handler(RequestValidationError)
    async def explain_parameters(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return JSONResponse({"error": f"{first['loc'][-1]}: {first['msg'].lower()}"}, 422)


def offer_page(app: FastAPI, library: Library) -> None:
    """Offer the page, and what it asks for."""

    @app.get("/", response_model=list[gamescrafters.GameEntry])
    def games(request: Request) -> Any:
        """The page, or where HTML is not asked for, the list of games."""
        if "text/html" in request.headers.get("accept", ""):
            return FileResponse(STATIC / ("index.html" if request.query_params.get("v") else "gallery.html"))
        return gamescrafters.games(library)

    @app.get("/api/variants")
    def variants_served() -> list[answers.Variant]:
        """All variants that are served."""
        return [view.variant(facts) for facts in library.all()]

    @app.get("/api/position", response_model=answers.Position)
    async def position(
        variant: str, position: Text | None = None, last: Text | None = None, line: bool = False, search: bool = False,
        count: Count | None = None,
    ) -> Response:  # fmt: skip
        """A position with its picture and its moves; the start if none is given, or one by chance, `random`.

        *last* are the places that the last move touched, by their numbers, joined by commas: they are marked.
        Where there is no database, what is known already is told, or with *search* what is found out in some seconds.
        *count* are the plies without progress, if the position does not say so itself; they matter where it is known
        what a rule makes of them, as the fifty-move rule of chess.
        """
        name = await library.answer(lambda: lichess.variant_at(library, variant, position))
        seconds = library.seconds if search else 0.0

        def answer(oracle: Answering) -> answers.Position:
            place, plies = view.place_of(oracle, position), count_at(oracle, position, count)
            return view.position(oracle, place, last, line, seconds, plies)

        return as_json(await library.ask(name, answer))

    @app.get("/api/reply")
    async def reply(
        variant: str, position: Text, skill: Annotated[float, Query(ge=0, le=1)] = 1.0, seed: int | None = None,
        count: Count | None = None,
    ) -> answers.Reply:  # fmt: skip
        """The move of a player, who is perfect as often as *skill* says, or what chance brings."""

        def answer(oracle: Answering) -> answers.Reply:
            place, plies = view.place_of(oracle, position), count_at(oracle, position, count)
            return view.reply(oracle, place, skill, seed, plies)

        return await library.ask(variant, answer)

    @app.get("/api/board")
    async def board(variant: str) -> answers.BoardParts:
        """What positions are set up with: the men, the players, the empty board and the start."""
        return await library.ask(variant, view.parts)

    @app.get("/api/setup")
    async def set_up(variant: str, pieces: Text, turn: Text = "") -> answers.SetUp:
        """The position that looks like this: *pieces* has a sign for each place, *turn* is that of who is to move."""
        return await library.ask(variant, lambda oracle: view.set_up(oracle, pieces, turn))

    @app.get("/api/counts")
    async def counts(variant: str) -> list[answers.Count]:
        """How many positions there are of each value and remoteness."""
        return await library.ask(variant, view.counts)


def offer_games(app: FastAPI, library: Library) -> None:
    """Offer what the page asks of a whole game: its positions, what its moves were worth, and its text."""

    @app.get("/api/game", response_model=answers.Played)
    async def game_played(variant: str, position: Text | None = None, moves: Moves = "") -> Response:
        """The positions of a game, from the start or a position, by the names of its moves, joined by commas."""
        name = await library.answer(lambda: lichess.variant_at(library, variant, position))
        text = "" if position == "random" else position or ""

        def answer(oracle: Answering) -> answers.Played:
            place, plies = view.place_of(oracle, position), count_at(oracle, position, None)
            return view.played(oracle, place, view.moves_in(moves), text, plies)

        return as_json(await library.ask(name, answer))

    @app.get("/api/scorecard")
    async def scorecard(variant: str, position: Text, moves: Text, count: Count | None = None) -> list[answers.Mark]:
        """What each of some moves from a position was worth, and what would have been better."""

        def answer(oracle: Answering) -> list[answers.Mark]:
            place, plies = view.place_of(oracle, position), count_at(oracle, position, count)
            return view.scorecard(oracle, place, view.moves_in(moves), plies)

        return await library.ask(variant, answer)

    @app.get("/api/pgn", response_class=PlainTextResponse, responses=ERRORS_AS_JSON)
    async def pgn(
        variant: str, position: Text, moves: Moves = "", first: Text = "?", second: Text = "?", finished: bool = False,
        count: Count = 0,
    ) -> str:  # fmt: skip
        """A game of chess as PGN, between players of those names."""

        def answer(oracle: Answering) -> str:
            place = view.place_of(oracle, position)
            return view.pgn(oracle, place, view.moves_in(moves), (first, second), finished, count)

        return await library.ask(variant, answer)


def offer_gallery(app: FastAPI, library: Library, solves: Solves) -> None:
    """Offer the front of the page, and to solve what is small."""

    @app.get("/api/gallery")
    def gallery_shown() -> gallery.Gallery:
        """All variants that are solved, and the games that are installed."""
        return gallery.gallery(library, solves)

    @app.get("/api/about")
    async def about(variant: Text) -> gallery.About:
        """What is to be said of a variant that does not open, and what to do."""
        return await library.answer(lambda: gallery.about(library, solves, variant))

    @app.get("/api/picture", response_class=Response, responses=ERRORS_AS_JSON)
    async def picture(variant: Text) -> Response:
        """A picture of a variant's start, as SVG."""
        if variant.partition(":")[0] in installed():
            svg = await run_in_threadpool(gallery.picture, variant)
        else:
            svg = await library.answer(lambda: gallery.picture_by_database(library.solution(variant)))
        return Response(svg, media_type="image/svg+xml")

    @app.get("/api/solves")
    async def solves_told() -> list[gallery.SolveTold]:
        """How far the solves have come that were asked for."""
        return gallery.told(solves)

    @app.post(SOLVE)
    async def solve(variant: Text, x_retrograde: Token = None) -> gallery.SolveTold:
        """Solve a game that is small, in a process of its own; the header has the token that the gallery told."""
        solves.check(x_retrograde)
        if library.games:
            raise NotSolvedHere("this server serves some variants only, and solves none")
        return gallery.solve_told(solves.begin(variant))

    @app.post(CANCEL)
    async def cancel(variant: Text, x_retrograde: Token = None) -> list[gallery.SolveTold]:
        """Stop solving a game; what is done is kept."""
        solves.check(x_retrograde)
        solves.cancel(variant)
        return gallery.told(solves)


def offer_lichess(app: FastAPI, library: Library) -> None:
    """Offer Lichess' tablebase API."""

    @app.get("/standard", response_model=lichess.Answer)
    async def standard(fen: Text) -> Response:
        """What is known of a position of chess, as Lichess' tablebase tells it."""
        return as_json(await library.answer(lambda: lichess.standard(library, fen)))

    @app.get("/standard/mainline", response_model=lichess.Mainline)
    async def mainline(fen: Text) -> Response:
        """Best play from a position of chess, as Lichess' tablebase tells it; ours is that of the distance to mate."""
        return as_json(await library.answer(lambda: lichess.mainline(library, fen)))


def offer_gamescrafters(app: FastAPI, library: Library) -> None:
    """Offer GamesCrafters' web API."""

    @app.get("/{game}/")
    async def game(game: str) -> gamescrafters.GameAnswer:
        """A game and its variants."""
        answer = await library.answer(lambda: gamescrafters.game(library, game))
        if answer is None:
            raise NoDatabase(f"no variant of {game!r} is served here")
        return answer

    @app.get("/{game}/{variant}/")
    async def variant_about(game: str, variant: str) -> gamescrafters.VariantAnswer:
        """A variant and its start."""
        text = gamescrafters.variant_text(game, variant)
        return await library.answer(lambda: gamescrafters.variant(library.solution(text)))

    @app.get("/{game}/{variant}/positions/", response_model=gamescrafters.PositionAnswer)
    async def variant_position(game: str, variant: str, p: Text) -> Response:
        """A position and its moves."""

        def answer() -> gamescrafters.PositionAnswer:
            solution = library.solution(gamescrafters.variant_text(game, variant))
            return gamescrafters.position(solution, gamescrafters.read(solution, p))

        return as_json(await library.answer(answer), bare=True)

    @app.get("/{game}/{variant}/instructions/")
    async def variant_instructions(game: str, variant: str) -> gamescrafters.InstructionsAnswer:
        """How the game is played, as Markdown."""
        text = gamescrafters.variant_text(game, variant)
        return await library.answer(lambda: gamescrafters.instructions(library.solution(text)))


def status_of(error: Exception) -> int:
    """Return the status that an error is answered with.

    >>> [status_of(error) for error in (NoDatabase(""), RetrogradeError(""), Unavailable(""), OSError(""))]
    [404, 400, 503, 503]
    """
    if isinstance(error, NotSolvedHere | Busy):
        return 403 if isinstance(error, NotSolvedHere) else 409
    if isinstance(error, NoDatabase | NotInDatabase | VariantError):
        return 404
    return 503 if isinstance(error, Unavailable | OSError | NotADatabase | OtherRules | VersionTooNew) else 400
