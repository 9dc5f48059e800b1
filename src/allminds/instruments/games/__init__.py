"""Games with teams (P1): minds in the slots of an environment that reward each other or not.

`repeated` and `matrix_games` have the games in normal form; `commons`, `pluralistic`, `noughts`,
`predators`, `team_games` one game each; `pettingzoo` the games of others; `minds` who plays them;
`exact` what comes of it without sampling; `fast` the compiled form of the games in normal form.
"""

from allminds.instruments.games import (
    commons,
    matrix_games,
    minds,
    noughts,
    pettingzoo,
    pluralistic,
    predators,
    team_games,
)
from allminds.instruments.games.exact import Outcome, outcome

__all__ = [
    "Outcome",
    "commons",
    "matrix_games",
    "minds",
    "noughts",
    "outcome",
    "pettingzoo",
    "pluralistic",
    "predators",
    "team_games",
]
