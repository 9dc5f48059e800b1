"""Whether a study lets participants in: open, paused or closed."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Open all studies that were made before."""
    op.add_column("study", sa.Column("state", sa.String(16), nullable=False, server_default="open"))
