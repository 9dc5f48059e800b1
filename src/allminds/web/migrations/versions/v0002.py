"""Games: which participants play with each other, and in which slot each took an exercise."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table of games; every exercise so far was taken alone, in slot 0."""
    op.create_table(
        "game",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("study_id", sa.Integer, nullable=False),
        sa.Column("test", sa.Integer, nullable=False),
        sa.Column("first_id", sa.Integer, nullable=False),
        sa.Column("second_id", sa.Integer),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("left_by", sa.Integer),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_game"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name="fk_game_study_id"),
        sa.ForeignKeyConstraint(["first_id"], ["session.id"], name="fk_game_first_id"),
        sa.ForeignKeyConstraint(["second_id"], ["session.id"], name="fk_game_second_id"),
    )
    for column in ("study_id", "first_id", "second_id"):
        op.create_index(f"ix_game_{column}", "game", [column])
    with op.batch_alter_table("exercise") as table:
        table.add_column(sa.Column("slot", sa.Integer, nullable=False, server_default="0"))
        table.add_column(sa.Column("opponent", sa.String(200)))
        table.add_column(sa.Column("game_id", sa.Integer))
        table.create_foreign_key("fk_exercise_game_id", "game", ["game_id"], ["id"])
