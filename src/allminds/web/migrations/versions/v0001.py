"""The first schema: study, participant, consent, session, exercise, event."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

LONG = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make all tables of the first schema."""
    _people()
    _sessions()
    op.create_table(
        "event",
        sa.Column("id", LONG, nullable=False),
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("exercise_idx", sa.Integer),
        sa.Column("step", sa.Integer),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("choice", sa.String(64)),
        sa.Column("action", sa.JSON),
        sa.Column("observation_hash", sa.String(16)),
        sa.Column("reward", sa.Double),
        sa.Column("correct", sa.Boolean),
        sa.Column("rt_ms", sa.Double),
        sa.Column("input", sa.String(16)),
        sa.Column("client_ts", sa.Double),
        sa.Column("server_ts", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_event_session_id"),
    )
    op.create_index("ix_event_session", "event", ["session_id", "exercise_idx"])
    choices = sa.text("kind = 'choice'")
    op.create_index(
        "uq_event_choice", "event", ["session_id", "exercise_idx", "step"], unique=True,
        sqlite_where=choices, postgresql_where=choices,
    )  # fmt: skip


def _people() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("slug", sa.String(64), nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("consent_version", sa.String(64), nullable=False),
        sa.Column("languages", sa.String(200), nullable=False),
        sa.Column("opens", sa.BigInteger),
        sa.Column("closes", sa.BigInteger),
        sa.Column("max_n", sa.Integer, nullable=False),
        sa.Column("code_version", sa.String(32), nullable=False),
        sa.Column("admin_hash", sa.String(64), nullable=False),
        sa.Column("open_hash", sa.String(64)),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_study"),
        sa.UniqueConstraint("slug", name="uq_study_slug"),
        sa.UniqueConstraint("admin_hash", name="uq_study_admin_hash"),
        sa.UniqueConstraint("open_hash", name="uq_study_open_hash"),
    )
    op.create_table(
        "participant",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("invite_hash", sa.String(64), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("external_id", sa.String(128)),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("withdrawn_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_participant"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_participant_study_id"),
        sa.UniqueConstraint("invite_hash", name="uq_participant_invite_hash"),
    )
    for name, column in (("number", "number"), ("label", "label"), ("external", "external_id")):
        columns = ["study_id", column]
        op.create_index(f"uq_participant_{name}", "participant", columns, unique=True)
    op.create_table(
        "consent",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant_id", sa.Integer, nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("lang", sa.String(16), nullable=False),
        sa.Column("accepted_at", sa.BigInteger, nullable=False),
        sa.Column("about", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_consent"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name="fk_consent_participant_id"
        ),
    )
    op.create_index("ix_consent_participant_id", "consent", ["participant_id"])


def _sessions() -> None:
    op.create_table(
        "session",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant_id", sa.Integer, nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("next_hash", sa.String(64)),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("lang", sa.String(16), nullable=False),
        sa.Column("device", sa.JSON),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("told", sa.JSON),
        sa.Column("again", sa.Boolean, nullable=False),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("finished", sa.BigInteger),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("last_seen", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_session"),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participant.id"], name="fk_session_participant_id"
        ),
        sa.UniqueConstraint("participant_id", name="uq_session_participant_id"),
        sa.UniqueConstraint("token_hash", name="uq_session_token_hash"),
        sa.UniqueConstraint("next_hash", name="uq_session_next_hash"),
    )
    op.create_table(
        "exercise",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("session_id", sa.Integer, nullable=False),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("test", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("params", sa.JSON),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("practice", sa.Boolean, nullable=False),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("finished", sa.BigInteger),
        sa.Column("score", sa.Double),
        sa.Column("flags", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_exercise"),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_exercise_session_id"),
    )
    op.create_index("uq_exercise_place", "exercise", ["session_id", "idx"], unique=True)
