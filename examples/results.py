"""A mind of your own, from Python: its score, a table, a plot, a comparison, files. Run it with

python examples/results.py

or paste it into a notebook, where the last value of a cell is shown as a table or a chart.
"""

import sys
from pathlib import Path

import allminds as am


class Careful:
    """Goes to the best reward it sees; where it sees none, it `waits` or goes anywhere."""

    def __init__(self, waits=False):
        self.waits = waits

    def act(self, observation, random):
        """An action 1..9, of which 5 is to stay."""
        best = max(observation.rewards)
        if best > 0:
            return 1 + observation.rewards.index(best)
        return 5 if self.waits else 1 + random.below(9)


def main(out, episodes=660):
    """Everything that results can do; files go to the folder `out`."""
    minds = {"random": "random", "roams": Careful(), "waits": Careful(waits=True)}
    results = am.evaluate("lambda-star", minds, episodes=episodes)
    print(results)

    print("\nOn the same exercises:")
    print(results.compare()[["first", "second", "difference", "low", "high", "verdict"]])

    print("\nMinds by exercises, as psychometrics wants it:")
    print(results.wide().iloc[:, :3].round(2).to_string(header=False))

    frame = results.frame()  # a row for every exercise, mind and slot
    hardest = frame[frame["K"] == frame["K"].max()]
    print(f"\nOn the hardest exercises, K = {frame['K'].max():g}:")
    print(hardest.groupby("mind")["score"].mean().round(2).to_string())
    print(results.codebook().loc[["K", "score", "status"], "meaning"].to_string())

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for name in ("records.csv", "summary.json", "scores.html", "complexity.svg"):
        print(results.save(out / name))
    return results


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "results")
