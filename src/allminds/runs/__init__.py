"""Running tests: `plan` (what is asked of which minds), `engine`, `store` (run folder), `run`."""
