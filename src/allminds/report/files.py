"""Files written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from allminds.core.errors import Error


def write_whole(out: Path, made: bytes) -> Path:
    """Write under a temporary name, sync, rename; a full disk leaves what was there."""
    temporary = out.with_name(out.name + ".tmp")
    try:
        try:
            with open(temporary, "wb") as file:
                file.write(made)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, out)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise Error(f"cannot write {out}: {error.strerror or error}") from None
    return out
