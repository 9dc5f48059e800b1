"""Minds for games. To write one with an exact outcome, subclass `base.PolicyMind`.

`constant` always does the same, `strategies` are the classics of the iterated dilemma, `learners`
adapt, `planners` compute what is best, `roles` belong to one game, `human` is a person.
"""

from allminds.instruments.games.minds import constant, human, learners, planners, roles, strategies

__all__ = ["constant", "human", "learners", "planners", "roles", "strategies"]
