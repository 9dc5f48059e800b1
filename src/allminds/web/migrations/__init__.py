"""Migrations by Alembic: they turn a database of an older allminds into one of this version."""
