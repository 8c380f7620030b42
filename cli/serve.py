"""`retrograde serve`: a page to play on, and JSON for other programs."""

import click

from retrograde.cli.common import complete_variants


@click.command()
@click.argument("variants", nargs=-1, metavar="[VARIANT…]", shell_complete=complete_variants)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any free one.")
def command(variants: tuple[str, ...], host: str, port: int) -> None:
    """Serve a page to play on, and JSON, until Ctrl-C.

    All variants that have databases are served, or those given. Only this machine can reach the page, unless --host
    says otherwise. Needs the extra: pip install 'retrograde[web]'

    \b
    Examples:
      retrograde serve
      retrograde serve connect4:4,4 chess:KRK --port 8080
    """
    import socket

    from retrograde.games import RetrogradeError

    try:
        import uvicorn

        from retrograde.cli.web.app import make_app
    except ModuleNotFoundError as error:
        raise RetrogradeError(f"the page needs {error.name}; get it with: pip install 'retrograde[web]'") from error

    app = make_app(variants)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:  # asyncio lets only such ones not delay
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError as error:
            why = error.strerror or error
            raise RetrogradeError(f"cannot listen on {host} port {port}: {why}; try another --port") from error
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"http://{shown}:{sock.getsockname()[1]}/  (Ctrl-C ends)")
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[sock])
    app.state.library.close()
