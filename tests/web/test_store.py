"""The database: its schema, its migrations, and what it refuses."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from studio import Clock, make, study

from allminds.core.errors import Error
from allminds.web.store import Store
from allminds.web.tables import Base, EventRow, ExerciseRow, ParticipantRow, SessionRow, StudyRow

OLD: dict[str, dict[str, object]] = {  # one row of each table, as the first schema had them
    "study": {
        "id": 1, "slug": "s", "plan": "{}", "consent_version": "1", "languages": "en", "max_n": 1,
        "code_version": "0", "admin_hash": "a", "created": 0,
    },
    "participant": {
        "id": 1, "study_id": 1, "number": 0, "invite_hash": "i", "label": "l", "created": 0,
    },
    "session": {
        "id": 1, "participant_id": 1, "token_hash": "t", "seed": 1, "plan": "{}", "lang": "en",
        "place": 0, "attempts": 0, "again": False, "started": 0, "status": "running",
        "last_seen": 0,
    },
    "exercise": {
        "id": 1, "session_id": 1, "idx": 0, "place": 2, "test": 0, "kind": "lambda", "seed": 1,
        "number": 0, "practice": False, "started": 0, "flags": "[]",
    },
    "event": {
        "id": 1, "session_id": 1, "exercise_idx": 0, "step": 0, "kind": "choice", "choice": "2",
        "server_ts": 0,
    },
}  # fmt: skip


def test_migrations_make_the_very_tables_that_the_code_uses(where):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    store = Store(where, create=True)
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == "0005"
    store.close()
    Store(where).close()  # a second time there is nothing to do


def test_a_database_of_the_first_schema_is_brought_up_to_date(where, monkeypatch):
    """What people did before there were games was done alone, in slot 0."""
    from alembic import command

    upgrade = command.upgrade
    with monkeypatch.context() as patch:
        patch.setattr(command, "upgrade", lambda config, _head: upgrade(config, "0001"))
        older = Store(where, create=True)
    with older.engine.begin() as connection:
        for table, names in OLD.items():
            columns, values = ", ".join(names), ", ".join(map(repr, names.values()))
            connection.execute(text(f'INSERT INTO "{table}" ({columns}) VALUES ({values})'))
    older.close()
    store = Store(where)
    with store.reading() as db:
        row = db.scalars(select(ExerciseRow)).one()
        assert (row.kind, row.slot, row.opponent, row.game_id) == ("lambda", 0, None, None)
        assert db.scalars(select(EventRow)).one().choice == "2"
    store.close()


def test_a_choice_is_there_once_and_notes_as_often_as_they_come(where, clock):
    make(where, study(), 1, clock)
    store = Store(where)
    with store.writing() as db:
        participant = db.scalars(select(ParticipantRow)).one()
        session = SessionRow(
            participant_id=participant.id, token_hash="t", seed=1, plan="", lang="en", device=None,
            place=0, attempts=0, again=False, started=0, status="running", last_seen=0,
        )  # fmt: skip
        db.add(session)
        db.flush()
        number = session.id

    def event(kind: str) -> EventRow:
        return EventRow(session_id=number, exercise_idx=0, step=0, kind=kind, server_ts=0)

    for kind in ("note", "note", "resume", "resume", "shown", "shown", "choice"):
        with store.writing() as db:
            db.add(event(kind))
    with pytest.raises(IntegrityError), store.writing() as db:
        db.add(event("choice"))
    store.close()


def test_half_a_transaction_leaves_nothing(where, clock):
    make(where, study(), 1, clock)
    store = Store(where)

    def breaks_off() -> None:
        with store.writing() as db:
            db.scalars(select(StudyRow)).one().slug = "changed"
            db.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        breaks_off()
    assert store.study().slug == "short"
    store.close()


def test_sqlite_keeps_a_log_and_syncs_it(tmp_path):
    store = Store(tmp_path / "a.db", create=True)
    with store.engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA synchronous")) == 2, "FULL"
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
    store.close()


def test_reading_holds_nobody_up(where, clock):
    make(where, study(), 1, clock)
    store = Store(where)
    with store.reading() as reader:
        before = reader.scalar(select(StudyRow.slug))
        with store.writing() as writer:
            writer.scalars(select(StudyRow)).one().open_hash = "x"
        assert before == "short"
    store.close()


def test_what_is_no_database_of_ours_is_refused(tmp_path, where, clock):
    with pytest.raises(Error, match="there is no database"):
        Store(tmp_path / "none.db")
    with pytest.raises(Error, match="there is no folder"):
        Store(tmp_path / "no" / "none.db", create=True)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)")
    (tmp_path / "empty.db").touch()
    for name in ("other.db", "empty.db"):  # and stays as it was
        before = (tmp_path / name).read_bytes()
        with pytest.raises(Error, match="holds no study"):
            Store(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(Error, match="there is no database"):
        Store(f"sqlite:///{tmp_path}/none.db")
    assert not list(tmp_path.glob("none.db*"))
    (tmp_path / "text.db").write_text("no database at all, but long enough to look at" * 40)
    with pytest.raises(Error, match="cannot open the database"):
        Store(tmp_path / "text.db")
    with pytest.raises(Error, match="only sqlite and postgresql"):
        Store("mysql://me:secret@host/db")
    with pytest.raises(Error, match="neither a file nor the URL"):
        Store("my database://x")
    make(where, study(), 0, clock)
    store = Store(where)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(Error, match="was made by a newer allminds"):
        Store(where)


def test_a_password_is_never_shown():
    with pytest.raises(Error) as caught:
        Store("postgresql://me:hunter2@127.0.0.1:1/none", create=True)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_studies_in_one_database(where, clock):
    make(where, study(), 0, clock)
    make(where, study(slug="second"), 0, clock)
    store = Store(where)
    assert store.study("second").slug == "second"
    with pytest.raises(Error, match="several studies: name one of short, second"):
        store.study()
    with pytest.raises(Error, match="no study 'third'"):
        store.study("third")
    with pytest.raises(Error, match="there is a study 'short'"):
        store.add_study(study(), "x", 0)
    store.close()


def test_invitations_end_when_the_study_is_full(where):
    clock = Clock()
    make(where, study(participants=3), 1, clock)
    store = Store(where)
    row = store.study()
    with pytest.raises(Error, match="has the label 'p0' already"):
        store.invite(row, ["p0"], 0)
    with pytest.raises(Error, match="is not a label"):
        store.invite(row, ["=cmd"], 0)
    with pytest.raises(Error, match="is for 3 participants"):
        store.invite(row, ["", "", ""], 0)
    made = store.invite(row, ["", "ada"], 0)
    assert made[1][0] == "ada"
    assert len({secret for _, secret in made}) == 2, "and the failed ones left nothing"
    store.close()
