"""allminds serve: a study in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from allminds.cli.app import PEOPLE, app
from allminds.cli.options import TrustOption
from allminds.cli.study import DatabaseArgument, UrlOption, need_web


@app.command(rich_help_panel=PEOPLE, epilog="Example: allminds serve study.db --port 8000")
def serve(
    database: DatabaseArgument,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; other machines need TLS.")
    ] = "127.0.0.1",
    url: UrlOption = "",
    tls_cert: Annotated[
        Path | None, typer.Option(show_default="no TLS", help="Certificate, PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(show_default="no TLS", help="Its key, PEM.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(show_default="none", help="The address of a server in front, with TLS."),
    ] = None,
    trust: TrustOption = False,
) -> None:
    """Put a study before people, in the browser."""
    need_web()
    from allminds import registry
    from allminds.web import serve as app_serve

    registry.built_in_only("serve", trust)

    def said(where: str) -> None:
        print(where, flush=True)

    app_serve.serve(database, host, port, url, tls_cert, tls_key, said, proxy or ())
