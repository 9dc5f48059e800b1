"""Alembic's own file: it runs migrations on the connection that `store.migrate` hands over."""

from alembic import context

from allminds.web.tables import Base

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("migrations are run by allminds itself, when it opens a database")
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
