"""Statistics of scores: prediction, comparison, reliability, groups and the planning of studies.

`accuracy` predicts unseen tasks, `selection` finds the cheapest mind or group that is good enough,
where curves cross, and whether a vote beats its best member; `curves` shows what a mind can do by
difficulty. `comparison` compares minds and people, and shows what a score depends on, `reliability`
says how well a test tells them apart, `pilot` and `planning` how many exercises a study needs.
`gains` measures who gains from whom, `testbed` judges social games as tests, and `calibration`
counts how often all this is wrong.
"""
