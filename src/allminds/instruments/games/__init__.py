"""Games with teams (Insa-Cabrera and Hernández-Orallo 2015): minds that reward each other or not.

`game` has what all games share and games in normal form, `matrix_games` those with a table of
pay-offs; `commons`, `pluralistic`, `noughts`, `predators` one game each, with its minds;
`team_games` Λ and Λ* between teams; `pettingzoo` and `foreign` the games of PettingZoo; `minds` the
players of several games; `fast` and `kernels` the compiled form of the games in normal form. Their
exact outcomes are computed by `allminds.exact`.
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

__all__ = [
    "commons",
    "matrix_games",
    "minds",
    "noughts",
    "pettingzoo",
    "pluralistic",
    "predators",
    "team_games",
]
