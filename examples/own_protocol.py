"""A protocol of one's own, for any instrument, and a mind that hears what others answer.

allminds evaluate c-test --mind "own_protocol.py:Doubtful(mode,pattern(y=2))"
allminds evaluate c-test --mind "debate(mode,mode,own_protocol.py:Stubborn)"
"""

from __future__ import annotations

from allminds import Committee, MindBase


class Doubtful(Committee):
    """Answers what all members answer; if they differ, what the last says after some talk."""

    how = "If all members answer the same, it is the group's answer; else the last one's is."

    def choose(self, observation, random):
        answers = self.ask()
        return answers[0] if len(set(answers)) == 1 else self.talk(rounds=2)[-1]


class Stubborn(MindBase):
    """Answers its first action until it has heard two others agree."""

    def begin(self, task):
        self.answer, self.heard = task.actions.start, []

    def hear(self, messages):
        self.heard = [one.answer for one in messages]

    def act(self, observation, random):
        agreed = [one for one in self.heard if self.heard.count(one) > 1]
        return agreed[0] if agreed else self.answer
