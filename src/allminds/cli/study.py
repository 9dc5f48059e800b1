"""allminds study and serve: studies with people, from the file to the browser and to the export."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allminds.cli.app import PEOPLE, JsonOption, TrustOption, app, print_json, print_line
from allminds.core.errors import Error

if TYPE_CHECKING:
    from allminds.web.study import Study

study = typer.Typer(help="Studies with people in the browser.", no_args_is_help=True)
app.add_typer(study, name="study", rich_help_panel=PEOPLE)

HERE = "http://127.0.0.1:8000"
DatabaseArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="Its database: a file, or postgresql://…")
]
SlugOption = Annotated[
    str | None,
    typer.Option(show_default="the only one", help="The study, if the database has several."),
]
UrlOption = Annotated[
    str, typer.Option(show_default="this machine", help="The address that people see, with https.")
]


def need_web() -> None:
    """Require the packages of the extra `web`, which only studies with people need."""
    from importlib.util import find_spec

    needed = ("alembic", "babel", "fastapi", "httpx", "python_multipart", "sqlalchemy", "uvicorn")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise Error(f"{', '.join(missing)} is missing: pip install 'allminds[web]'")


@study.command(
    epilog="Example: allminds study new --write-plan > study.toml  |  "
    "allminds study new study.toml --out study.db"
)
def new(
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="STUDY.toml", show_default="needed, but for --write-plan", help="The study."
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            show_default="needed, but for --write-plan", help="A new file, or postgresql://…"
        ),
    ] = "",
    write_plan: Annotated[
        bool, typer.Option("--write-plan", help="Print a study to start from.")
    ] = False,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Make the database of a study. It prints the researcher's token, which is not kept."""
    from allminds import registry
    from allminds.web.checking import example, read_study, weak_seed

    registry.built_in_only("study new", trust)
    if write_plan:
        print(example(), end="")
        return
    if plan is None or not out:
        raise Error("name the study and its database: allminds study new STUDY.toml --out study.db")
    need_web()
    import importlib.metadata

    from allminds.web.app import now_in_ms
    from allminds.web.store import Store

    made = read_study(plan)
    _check_faces(made)
    if "://" not in out and Path(out).exists():
        raise Error(f"{out} is there already; name a new file with --out")
    with contextlib.closing(Store(out, create=True)) as store:
        token = store.add_study(made, importlib.metadata.version("allminds"), now_in_ms())
    weak = weak_seed(made.seed)
    if weak:
        print(
            f"allminds: the seed {made.seed} {weak}: whoever tries it can work out every exercise; "
            "leave it out and one is drawn",
            file=sys.stderr,
        )
    if as_json:
        print_json({"study": made.slug, "database": out, "token": token, "seed": made.seed})
        return
    print_line(
        f"{out} holds the study '{made.slug}'. Keep the researcher's token; it is shown once:"
    )
    print(f"  {token}")
    print(
        f"Its seed, for allminds run; as secret as the answers until the study is over: {made.seed}"
    )
    print_line(f"Next: allminds study invite {out} --count {made.participants}")
    print_line(f"      allminds serve {out}")


def _check_faces(made: Study) -> None:
    """Require that every instrument has a face, without which no participant can take it."""
    from allminds.web.questions import face

    for variant in made.variants:
        for test in range(len(variant.tests)):
            face(variant.tool(test))
            face(variant.practice_tool(test))


@study.command(epilog="Example: allminds study extend study.db --participants 60")
def extend(
    database: DatabaseArgument,
    participants: Annotated[int, typer.Option(min=1, max=100_000, help="The new number.")],
    slug: SlugOption = None,
) -> None:
    """Let more participants into a study. Arms and orders of tests go on as they began."""
    need_web()
    from allminds.web.store import Store

    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
        store.extend(row, participants)
    print(f"'{row.slug}' is for {participants} participants now")


@study.command(epilog="Example: allminds study close study.db")
def close(
    database: DatabaseArgument,
    slug: SlugOption = None,
    pause: Annotated[bool, typer.Option("--pause", help="For a while only.")] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="Let participants in again.")] = False,
    now: Annotated[
        bool, typer.Option("--now", help="End the sessions of those who are in it, too.")
    ] = False,
) -> None:
    """Close a study for newcomers; whoever is in it can finish, unless it is closed --now."""
    need_web()
    from allminds.web.app import now_in_ms
    from allminds.web.store import Store

    if pause + reopen + now > 1:
        raise Error("--pause, --reopen and --now exclude each other: name one of them")
    state = "paused" if pause else "open" if reopen else "closed"
    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
        if reopen and row.closes is not None and row.closes <= now_in_ms():
            raise Error(f"'{row.slug}' was closed for good; make a new study")
        store.set_state(row, state, now_in_ms() if now else None)
    inside = "" if reopen else "; sessions end" if now else "; whoever is in it can finish"
    print(f"'{row.slug}' is {state} now{inside}")


@study.command(
    epilog="Example: allminds study invite study.db --count 30 --url https://study.example.org"
)
def invite(
    database: DatabaseArgument,
    count: Annotated[
        int,
        typer.Option(min=0, max=10_000, help="The number of participants; labels are made up."),
    ] = 0,
    label: Annotated[
        list[str] | None, typer.Option(show_default="none", help="One participant with this label.")
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="One link for all participants, as a panel needs it.")
    ] = False,
    url: UrlOption = HERE,
    slug: SlugOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make links. They are shown once: the database keeps only their hashes."""
    need_web()
    from allminds.web.app import now_in_ms
    from allminds.web.serve import check_url
    from allminds.web.store import Store

    check_url(url, here=True)
    labels = [*(label or []), *[""] * count]
    if bool(labels) == open_:
        raise Error("say how many with --count, name some with --label, or ask for --open")
    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
        made = [("", store.open_link(row))] if open_ else store.invite(row, labels, now_in_ms())
    links = [{"label": name, "link": f"{url.rstrip('/')}/j/{token}"} for name, token in made]
    if as_json:
        print_json({"study": row.slug, "links": links})
        return
    for one in links:
        print(f"{one['label']},{one['link']}" if one["label"] else one["link"])


@study.command(epilog="Example: allminds study export study.db --out runs/people")
def export(
    database: DatabaseArgument,
    out: Annotated[Path, typer.Option(help="A new folder.")],
    pooled: Annotated[
        bool,
        typer.Option(
            "--pooled", help="Show all participants as one mind, 'people', in the results."
        ),
    ] = False,
    external: Annotated[
        bool, typer.Option("--external-ids", help="Include the ids of a panel.")
    ] = False,
    seeds: Annotated[
        bool, typer.Option("--with-seed", help="Include the seed: only when the study is over.")
    ] = False,
    slug: SlugOption = None,
    as_json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Write what a study brought: choices, events, and results that allminds compare reads."""
    need_web()
    from allminds import registry
    from allminds.web.app import now_in_ms
    from allminds.web.export import export_folder
    from allminds.web.store import Store

    registry.built_in_only("study export", trust)
    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
        made = export_folder(
            store, row, out, pooled=pooled, external=external, seeds=seeds, now=now_in_ms()
        )
    if as_json:
        print_json(made)
        return
    print_line(
        f"{out}: {made['choices']:,} choices, {made['events']:,} events, {made['rows']:,} results"
    )
    if made["rows"]:
        print_line(f"compare with a run on the same seed: allminds compare {out} RUN")
        print("where people's test is not the programs':")
        for sentence in made["parity"]:
            print(f"  {sentence}")


@contextlib.contextmanager
def exported(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Export study databases among some results into a folder that is removed afterwards.

    The file of a study, STUDY.toml, stands for the database of that name beside it.
    """
    paths = [_database_of(path) if path.suffix == ".toml" else path for path in paths]
    databases = [path for path in paths if _is_database(path)]
    if not databases:
        yield list(paths)
        return
    need_web()
    from allminds.web.app import now_in_ms
    from allminds.web.export import export_folder
    from allminds.web.store import Store

    with tempfile.TemporaryDirectory() as folder:
        places: dict[Path, Path] = {}
        for path in databases:
            with contextlib.closing(Store(str(path))) as store:
                row, out = store.study(None), Path(folder) / str(len(places)) / path.stem
                made = export_folder(store, row, out, now=now_in_ms())
            if not made["rows"]:
                raise Error(f"{path}: no participant has finished an exercise of '{row.slug}' yet")
            places[path] = out
        yield [places.get(path, path) for path in paths]


def _database_of(plan: Path) -> Path:
    """Find the database of a study beside its file."""
    found = plan.with_suffix(".db")
    if not _is_database(found):
        raise Error(
            f"there is no database {found} beside {plan}; name the study's database, or the "
            "folder that allminds study export wrote"
        )
    return found


def _is_database(path: Path) -> bool:
    """Check whether a file is the SQLite database of a study."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


@study.command(
    epilog="Example: allminds study simulate study.toml --mind q-learning --participants 50"
)
def simulate(
    plan: Annotated[str, typer.Argument(metavar="STUDY", help="STUDY.toml, or its database.")],
    mind: Annotated[
        list[str] | None,
        typer.Option(
            "--mind",
            "-m",
            show_default="random",
            help="The mind that takes the study; two names with a comma where participants meet.",
        ),
    ] = None,
    participants: Annotated[
        int, typer.Option(min=1, max=10_000, help="The number of participants.")
    ] = 10,
    out: Annotated[
        Path | None, typer.Option(show_default="no export", help="A new folder for the export.")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="A new database to keep; by default it is deleted.")
    ] = None,
    slug: SlugOption = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=1024, help="Simulated participants at a time.")
    ] = 4,
    as_json: JsonOption = False,
) -> None:
    """Let machines take a study through the real interface, before people do.

    Nothing is written to the study's own database. The first machine plays as in the runner, so
    its scores must be the runner's; the others have randomness of their own. Where two people play
    with each other, name both minds ('tit-for-tat, defect'): they sit down as they come.
    """
    need_web()
    from allminds.terminal import watching
    from allminds.web.simulate import simulate as simulated

    made = _study(plan, slug)
    with tempfile.TemporaryDirectory() as folder, watching() as progress:
        where = database or f"{folder}/trial.db"
        found = simulated(
            made, mind or [], participants, where, out, jobs,
            lambda done: progress(f"machines in '{made.slug}'", done, participants),
        )  # fmt: skip
    if as_json:
        print_json(found)
    else:
        _show(found)
    if found["as_played"] < participants or not found["as_in_the_runner"]:
        raise Error("the server kept other scores than the machines made: please report this")


def _show(found: dict[str, Any]) -> None:
    count = found["participants"]
    print(
        f"{count} machines took '{found['study']}' to the end, in {found['requests']:,} requests "
        f"(median {found['median_ms']:g} ms, 99 % within {found['p99_ms']:g} ms)"
    )
    for mind, test in zip(found["minds"], found["scores"], strict=True):
        reach = f"from {test['lowest']:.3f} to {test['highest']:.3f}"
        print(f"  {test['instrument']}: {mind} {test['mean']:.3f}, {reach}")
    same = "the same as" if found["as_in_the_runner"] else "other than"
    print(
        f"scores as the machines made them: {found['as_played']} of {count}; those of the first "
        f"are {same} in the runner"
    )
    if found["out"]:
        print_line(f"export: {found['out']}")


def _study(plan: str, slug: str | None) -> Study:
    """Read a study from its file, or from its database."""
    from allminds.web.checking import read_study
    from allminds.web.store import Store
    from allminds.web.study import stored

    if plan.endswith(".toml"):
        made = read_study(plan)
        _check_faces(made)
        return made
    with contextlib.closing(Store(plan)) as store:
        row = store.study(slug)
    return stored(row.plan)


@study.command(epilog="Example: allminds study withdraw study.db --label k7wmzq2p")
def withdraw(
    database: DatabaseArgument,
    label: Annotated[
        str | None,
        typer.Option(show_default="needed, or --everybody", help="The code that the person names."),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="When the study's data are to be deleted.")
    ] = False,
    slug: SlugOption = None,
) -> None:
    """Delete the data of a participant who asks for it, or of all when their time is over."""
    need_web()
    from allminds.web.app import now_in_ms
    from allminds.web.store import Store

    if (label is None) != everybody:
        raise Error("name one person with --label, or all with --everybody")
    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
        gone = store.forget(row, label, now_in_ms())
    print(f"deleted the data of {gone} {'person' if gone == 1 else 'people'} in '{row.slug}'")


@study.command(epilog="Example: allminds study backup study.db --out study-2027-01-31.db")
def backup(
    database: DatabaseArgument,
    out: Annotated[Path, typer.Option(help="A new file.")],
) -> None:
    """Write a backup, while the study is served or not."""
    need_web()
    from allminds.web.backup import backup as made

    size = made(database, out)
    print_line(f"{out}: {size:,} bytes. Whoever withdraws later is still in it: see the docs")


@study.command(epilog="Example: allminds study restore study-2027-01-31.db --out study.db")
def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="The file that backup wrote.")],
    out: Annotated[str, typer.Option(help="A new file, or an empty postgresql://…")],
) -> None:
    """Make a database of a backup again."""
    need_web()
    from allminds.web.backup import restore as restored

    restored(source, out)
    print_line(f"{out} is as the backup was; withdraw again whoever withdrew since then")


@study.command(epilog="Example: allminds study sign study.db 5f1a... 60b2...")
def sign(
    database: DatabaseArgument,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", show_default="none", help="The ids that a panel gave."),
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Print the key, to sign elsewhere.")] = False,
    slug: SlugOption = None,
) -> None:
    """Sign ids of a panel, so that nobody can make one up. For the open link of a study.

    A signature is HMAC-SHA256 of the id with the text of the key, in hex.
    """
    need_web()
    from urllib.parse import urlencode

    from allminds.web.security import signature
    from allminds.web.store import Store
    from allminds.web.study import stored

    with contextlib.closing(Store(database)) as store:
        row = store.study(slug)
    if row.panel_key is None:
        raise Error(f"'{row.slug}' takes ids without a signature; set external_signed = true")
    if key:
        print(row.panel_key)
    for one in ids or []:
        sent = {stored(row.plan).external_id: one, "signature": signature(row.panel_key, one)}
        print(f"?{urlencode(sent)}")


# ---------------------------------------------------------------- serve


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
