"""A number that changes whenever a session does, by which a server knows what it remembers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the version of a session; existing sessions get version 1."""
    with op.batch_alter_table("session") as table:
        table.add_column(sa.Column("version", sa.Integer, nullable=False, server_default="1"))
