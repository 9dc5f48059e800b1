"""Train a small policy on Λ* through Gymnasium, and put it in the table: run it with

python examples/train_policy.py

The policy is a table of values by what the eight cells around and its own look like: expected
SARSA, 4,096 copies at a time, NumPy only. It trains on seed 0 and is measured on seed 1.
"""

import gymnasium
import numpy as np

import allminds as am
import allminds.bridges.gymnasium  # registers allminds/LambdaStar-v1
from allminds.bridges.policies import subject

LEVELS = 5  # rewards -1, -0.5, 0, 0.5, 1 in each cell
RATE, DISCOUNT, EXPLORE = 0.1, 0.9, 0.1


class Greedy:
    """What was learnt, as Stable-Baselines3 would have it: vectors in, an action out."""

    def __init__(self, values, where):
        self.values, self.where = values, where

    def predict(self, observation, deterministic=True):
        """The action of the largest value, 1..9, and no memory."""
        seen = situations(observation[None, self.where])
        return 1 + self.values.get(int(seen[0]), np.zeros(9)).argmax(), None


def situations(rewards):
    """A number for what the nine cells look like."""
    return ((rewards * 2 + 2).astype(np.int64) * LEVELS ** np.arange(9)).sum(axis=1)


def train(rounds=20, copies=4096, seed=0):
    """Values of the nine actions by situation."""
    envs = gymnasium.make_vec("allminds/LambdaStar-v1", num_envs=copies)
    where = envs.unwrapped.fields["rewards"]
    lots = np.random.default_rng(seed)
    known, values = np.array([], np.int64), np.zeros((0, 9))
    vectors, _ = envs.reset(seed=seed)
    for _ in range(rounds):
        over = False
        while not over:
            seen = situations(vectors[:, where])
            known, values = met(known, values, seen)
            now = np.searchsorted(known, seen)
            # a little noise breaks ties, else what is not known yet would always go up-left
            best = (values[now] + 1e-6 * lots.random((copies, 9))).argmax(axis=1)
            free = lots.random(copies) < EXPLORE
            action = np.where(free, lots.integers(9, size=copies), best)
            vectors, rewards, _, truncated, _ = envs.step(action + 1)
            over = truncated.all()
            then = situations(vectors[:, where])
            known, values = met(known, values, then)
            now, then = np.searchsorted(known, seen), np.searchsorted(known, then)
            expected = (1 - EXPLORE) * values[then].max(axis=1) + EXPLORE * values[then].mean(
                axis=1
            )
            learn(values, now, action, rewards + DISCOUNT * expected)
        vectors, *_ = envs.step(np.full(copies, 5))  # a new round begins
    return Greedy(dict(zip(known.tolist(), values, strict=True)), where)


def met(known, values, seen):
    """The table with a row for every situation seen."""
    together = np.union1d(known, seen)
    grown = np.zeros((len(together), 9))
    grown[np.searchsorted(together, known)] = values
    return together, grown


def learn(values, now, action, target):
    """Move each value towards the mean of what the copies found."""
    count = np.zeros_like(values)
    total = np.zeros_like(values)
    np.add.at(count, (now, action), 1)
    np.add.at(total, (now, action), target)
    there = count > 0
    rate = 1 - (1 - RATE) ** count[there]
    values[there] += rate * (total[there] / count[there] - values[there])


def main(rounds=20, episodes=1000):
    """Train, then evaluate beside minds that everybody knows."""
    trained = train(rounds)
    minds = ["random", subject(trained, "trained"), "local-search", "expert", "optimum"]
    results = am.evaluate("lambda-star", minds, episodes=episodes)["results"]
    for row in results:
        low, high = row["ci95"]
        print(f"{row['mind']:<14}{row['score']:+.3f}  [{low:+.3f}, {high:+.3f}]")
    return results


if __name__ == "__main__":
    main()
