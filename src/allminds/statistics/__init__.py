"""Statistics of scores: prediction, comparison, reliability, groups and the planning of studies.

`accuracy` predicts unseen tasks, `selection` finds the cheapest mind or group that is good enough
and where curves cross, `factors` shows what a score depends on, and `groups` compares groups with
their members.
"""
