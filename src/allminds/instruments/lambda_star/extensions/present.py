"""What a language model is told of the tests that are made of Λ*."""

from __future__ import annotations

from collections.abc import Sequence

from allminds.contracts import Task
from allminds.instruments.lambda_star.present import OWN_CELL, GoodAndEvil


class CoordinationPresentation(GoodAndEvil):
    """Good gives only to several at once."""

    def special(self, task: Task) -> Sequence[str]:
        return (
            OWN_CELL,
            f"Good gives its reward only at a step after which at least "
            f"{self.tool.settings.needed} players are in its cell or next to it; Evil takes from "
            "anybody.",
        )


class ResponsivePresentation(GoodAndEvil):
    """Good flees and Evil follows."""

    def special(self, task: Task) -> Sequence[str]:
        return (
            f"At every step, with chance {self.tool.settings.responsive:g}, Good leaves its "
            "pattern and moves away from the player nearest to it, and with the same chance Evil "
            "leaves its own and moves toward the player nearest to it.",
            OWN_CELL,
        )


class CoveragePresentation(GoodAndEvil):
    """What is seen counts."""

    def special(self, task: Task) -> Sequence[str]:
        who, whose = ("all of you", "any of you has") if task.slots > 1 else ("you", "you have")
        return (
            f"But Good and Evil do not count here: after a step {who} get the share of all cells "
            f"that {whose} seen so far. Get as much as you can.",
        )
