"""How a database of an older allminds becomes one of this: Alembic, from the first version on."""
