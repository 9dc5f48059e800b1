"""One folder per test; entry points in pyproject.toml say which instrument is in which."""
