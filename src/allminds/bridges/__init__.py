"""Bridges to other libraries: instruments as their environments, and their agents as minds.

`gymnasium` (one mind, or many copies of it at once) and `pettingzoo` (several minds) turn
`allminds.episode.Episode` into what training libraries drive; `policies` makes a mind of what
they trained. Each imports its library only when it is itself imported.
"""

from __future__ import annotations

from allminds.contracts import Instrument


def environment_id(tool: type[Instrument] | Instrument) -> str:
    """Return the id of an instrument's environment: ``allminds/LambdaStar-v1`` for ``lambda-star``.

    The number in it is the instrument's version minus one, so it increases whenever results could
    change.
    """
    words = "".join(word.capitalize() for word in tool.name.split("-"))
    return f"allminds/{words}-v{tool.version - 1}"


def agent_name(slot: int) -> str:
    """Name the agent in a slot, for libraries in which agents have names."""
    return f"player_{slot}"
