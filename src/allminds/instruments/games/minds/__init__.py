"""Minds for games that several games have; those of one game are in its file.

`simple` has a mind for each action and a person, `strategies` the classics of the iterated
dilemma, `learners` minds that adapt, `planners` minds that compute what is best. To write one with
an exact outcome, subclass `allminds.PolicyMind`.
"""

from allminds.instruments.games.minds import learners, planners, simple, strategies

__all__ = ["learners", "planners", "simple", "strategies"]
