"""Who was invited by a link of their own, keys of panels, and true times of leaving."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Tell invited participants from those of an open link, who came when they were added."""
    op.add_column("study", sa.Column("panel_key", sa.String(64)))
    invited = sa.Column("invited", sa.Boolean, nullable=False, server_default=sa.true())
    op.add_column("participant", invited)  # not in a batch, which would copy the whole table
    op.execute(
        "UPDATE participant SET invited = false WHERE EXISTS (SELECT 1 FROM session WHERE "
        "session.participant_id = participant.id AND session.started = participant.created)"
    )
    op.execute(  # it was overwritten when somebody came too late
        "UPDATE session SET last_seen = COALESCE((SELECT MAX(event.server_ts) FROM event WHERE "
        "event.session_id = session.id AND event.kind = 'choice'), started) "
        "WHERE status = 'abandoned'"
    )
