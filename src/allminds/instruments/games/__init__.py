"""Games with teams (Insa-Cabrera and Hernández-Orallo 2015): minds that reward each other or not.

`game` has what all games share and the games in normal form; `boards` and
`society` two games each, with their minds; `team_games` Λ and Λ* between teams; `pettingzoo` and
`foreign` the games of PettingZoo. Minds for several games: `minds` has those that always do the
same, a person, and learners; `strategies` the classics of the iterated dilemma; `planners` those
that compute what is best. To write one with an exact outcome (`allminds.exact`), subclass
`allminds.PolicyMind`. `fast` is the compiled form of the games in normal form.
"""

from allminds.instruments.games import (
    boards,
    game,
    minds,
    pettingzoo,
    planners,
    society,
    strategies,
    team_games,
)
from allminds.instruments.games.boards import Board, Sight
from allminds.instruments.games.game import Round
from allminds.instruments.games.pettingzoo import Seen
from allminds.instruments.games.society import Public, Stock

__all__ = [
    "Board",
    "Public",
    "Round",
    "Seen",
    "Sight",
    "Stock",
    "boards",
    "game",
    "minds",
    "pettingzoo",
    "planners",
    "society",
    "strategies",
    "team_games",
]
