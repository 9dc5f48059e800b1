"""Giving tests: `plan` (what, to whom), `engine` (played where), `store` (run folder), `run`."""
