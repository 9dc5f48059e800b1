"""A mind of your own as a plain class: try it with

allminds evaluate lambda-star --mind examples/plain_mind.py:Careful
"""

from allminds import MindBase, Random


class Careful(MindBase):
    """Goes to the best reward it sees, but of two equal cells it takes the one it saw first."""

    def act(self, observation, random: Random) -> int:
        """An action 1..9; the observation lists cells and rewards in the same order."""
        best = max(observation.rewards)
        if best == 0:  # nothing in sight: look elsewhere
            return 1 + random.below(9)
        return 1 + observation.rewards.index(best)
