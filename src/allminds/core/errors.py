"""The one exception that a user can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Error(Exception):
    """An error that the user can correct: one sentence on what is wrong, where, what is right.

    The command line prints the sentence and ends with exit code 2; there is no traceback. Lines
    that stand below it, such as frames of the user's own code, are in `detail`.

    Attributes
    ----------
    detail : str
        Lines below the sentence.

    Examples
    --------
    >>> import allminds
    >>> try:
    ...     allminds.evaluate("lamda-star", ["random"])
    ... except allminds.Error as error:
    ...     print(error)
    there is no instrument 'lamda-star'; did you mean 'lambda-star'?
    """

    detail: str = ""


def printable(text: str) -> str:
    """Replace what would steer a terminal, such as escape codes, by its number."""
    return "".join(
        one if one.isprintable() or one in "\n\t" else f"\\x{ord(one):02x}" for one in text
    )


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Suggest, as the end of an error, the known name nearest to a wrong one, or list all."""
    names = sorted(known)
    close = difflib.get_close_matches(wrong, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"choose from {', '.join(names)}" if names else "there are none"
