"""r̃: hits weighted by k, with the interval of STATISTICS."""

from __future__ import annotations

import math

from allminds.blocks import Block
from allminds.estimate import Estimate


class WeightedHits:
    """r̃ = Σ k·hit / Σ k; se² = Σ_k (n_k k)² p̃_k (1-p̃_k)/n_k / (Σ n_k k)², p̃ = (x+1)/(n+2)."""

    def __init__(self, chance: float, ceiling: float) -> None:
        self.chance, self.ceiling = chance, ceiling
        self.episodes = self.failed = 0
        self._counts: dict[float, list[int]] = {}  # k -> exercises, hits

    def add(self, block: Block) -> None:
        """Take the next exercises."""
        self.episodes += len(block.status)
        for k, score, status in zip(
            block.complexity["k"], block.score[:, 0], block.status[:, 0], strict=True
        ):
            if status:
                self.failed += 1
                continue
            count = self._counts.setdefault(float(k), [0, 0])
            count[0] += 1
            count[1] += score > 0.5

    def estimate(self) -> Estimate:
        """The figures so far."""
        total = sum(k * n for k, (n, _) in self._counts.items())
        if not total:
            return Estimate(None, None, None, None, None, self.episodes, self.failed)
        score = sum(k * hits for k, (_, hits) in self._counts.items()) / total
        variance = 0.0
        for k, (n, hits) in self._counts.items():
            share = (hits + 1) / (n + 2)
            variance += (n * k) ** 2 * share * (1 - share) / n
        stderr = math.sqrt(variance) / total
        return Estimate(
            score=score,
            stderr=stderr,
            ci95=(max(0.0, score - 1.96 * stderr), min(1.0, score + 1.96 * stderr)),
            normalised=(score - self.chance) / (self.ceiling - self.chance),
            learning=None,
            episodes=self.episodes,
            failed=self.failed,
        )
