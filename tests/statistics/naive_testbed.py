"""SOCIAL's definitions a second time, as naively as they can be written: sums over everything.

A game is a number of minds n, of slots N, teams, rewards R[l][i] and joint action sequences by
line-up, weights w[l] of line-ups and w_s[i] of slots, and the number of the random mind or None.
NaN is a property without a value.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

NAN = math.nan


@dataclass
class Naive:
    n: int
    slots: int
    teams: list[list[int]]
    R: dict
    w: dict
    w_s: list
    random: int | None = None
    acts: dict | None = None  # l -> {joint sequence: probability}

    # ------------------------------------------------------------ weights

    def lineups(self):
        return list(itertools.product(range(self.n), repeat=self.slots))

    def companies(self, *empty):
        rest = [s for s in range(self.slots) if s not in empty]
        every = itertools.product(range(self.n), repeat=len(rest))
        return [dict(zip(rest, minds, strict=True)) for minds in every]

    def fill(self, company):
        return tuple(company[s] for s in range(self.slots))

    def w_mind(self, i, mind):
        return sum(w for l, w in self.w.items() if l[i] == mind)

    def w_company(self, company):
        return sum(w for l, w in self.w.items() if all(l[s] == m for s, m in company.items()))

    def mean(self, values_and_weights):
        kept = [(v, w) for v, w in values_and_weights if not math.isnan(v) and w > 0]
        total = sum(w for _, w in kept)
        return sum(v * w for v, w in kept) / total if kept else NAN

    def over_slots(self, of):
        return self.mean([(of(i), self.w_s[i]) for i in range(self.slots)])

    def team(self, i):
        return next(t for t in self.teams if i in t)

    def over_pairs(self, of, same):
        pairs = [
            (i, j)
            for i in range(self.slots)
            for j in range(self.slots)
            if i != j and (j in self.team(i)) == same
        ]
        return self.mean([(of(i, j), self.w_s[i] * self.w_s[j]) for i, j in pairs])

    # ------------------------------------------------------------ scores

    def score(self, i, mind):
        return sum(
            self.w_company(c) * self.R[self.fill(c | {i: mind})][i] for c in self.companies(i)
        )

    def upsilon_of(self, mind):
        return sum(self.w_s[i] * self.score(i, mind) for i in range(self.slots))

    def upsilon(self):
        return sum(
            self.w_s[i] * w * self.R[l][i] for l, w in self.w.items() for i in range(self.slots)
        )

    # ------------------------------------------------------------ pairs of minds, of companies

    def over_mind_pairs(self, i, of):
        ms = range(self.n)
        whole = 1 - sum(self.w_mind(i, a) ** 2 for a in ms)
        if whole < 1e-9:
            return NAN
        return (
            sum(self.w_mind(i, a) * self.w_mind(i, b) * of(a, b) for a in ms for b in ms if a != b)
            / whole
        )

    def delta(self, x, y):
        return float(abs(x - y) > 1e-9)

    def fine(self, i, d):
        return self.over_mind_pairs(
            i,
            lambda a, b: sum(
                self.w_company(c)
                * d(self.R[self.fill(c | {i: a})][i], self.R[self.fill(c | {i: b})][i])
                for c in self.companies(i)
            ),
        )

    def coarse(self, i, d):
        return self.over_mind_pairs(i, lambda a, b: d(self.score(i, a), self.score(i, b)))

    def reward(self, i, d):
        cs = self.companies(i)
        whole = 1 - sum(self.w_company(c) ** 2 for c in cs)
        if whole < 1e-9:
            return NAN
        return sum(
            self.w_mind(i, a) * self.w_company(c) * self.w_company(e)
            * d(self.R[self.fill(c | {i: a})][i], self.R[self.fill(e | {i: a})][i])
            for a in range(self.n) for c in cs for e in cs if c != e
        ) / whole  # fmt: skip

    def action(self, i, binary):
        def others(l):
            found = {}
            for sequence, p in self.acts[l].items():
                key = tuple(joint[:i] + joint[i + 1 :] for joint in sequence)
                found[key] = found.get(key, 0) + p
            return found

        def apart(a, b):
            total = 0.0
            for c in self.companies(i):
                p, q = others(self.fill(c | {i: a})), others(self.fill(c | {i: b}))
                tv = sum(abs(p.get(k, 0) - q.get(k, 0)) for k in {*p, *q}) / 2
                total += self.w_company(c) * (float(tv > 1e-9) if binary else tv)
            return total

        return self.over_mind_pairs(i, apart)

    # ------------------------------------------------------------ variances

    def split(self, i):
        cells = [
            (a, c, self.w_mind(i, a), self.w_company(c), self.R[self.fill(c | {i: a})][i])
            for a in range(self.n)
            for c in self.companies(i)
        ]
        grand = sum(u * v * r for _, _, u, v, r in cells)
        by_mind = {a: self.score(i, a) for a in range(self.n)}
        by_company = {
            str(c): sum(self.w_mind(i, a) * self.R[self.fill(c | {i: a})][i] for a in range(self.n))
            for c in self.companies(i)
        }
        me = sum(self.w_mind(i, a) * (by_mind[a] - grand) ** 2 for a in range(self.n))
        them = sum(self.w_company(c) * (by_company[str(c)] - grand) ** 2 for c in self.companies(i))
        match = sum(
            u * v * (r - by_mind[a] - by_company[str(c)] + grand) ** 2 for a, c, u, v, r in cells
        )
        return me, them, match

    def share(self, i, strategic):
        me, them, match = self.split(i)
        total = me + them + match
        if total < 1e-18:
            return NAN
        return match / total if strategic else (them + match) / total

    # ------------------------------------------------------------ grading

    def margin(self, i, j, company, a, b):
        def gap(x, y):
            l = self.fill(company | {i: x, j: y})
            return self.R[l][i] - self.R[l][j]

        return (gap(a, b) - gap(b, a)) / 2

    def grade(self, i, j, strict):
        above = below = 0.0
        for c in self.companies(i, j):
            for triple in itertools.permutations(range(self.n), 3):
                weight = self.w_company(c) * math.prod(
                    (self.w_mind(i, m) + self.w_mind(j, m)) / 2 for m in triple
                )
                below += weight

                def holds(x, y, c=c):
                    m = self.margin(i, j, c, x, y)
                    return m > 1e-9 if strict else m >= -1e-9

                above += weight * any(
                    holds(x, y) and holds(y, z) and holds(x, z)
                    for x, y, z in itertools.permutations(triple)
                )
        return above / below if below else NAN

    def mean_margin(self, a, b):
        return self.over_pairs(
            lambda i, j: sum(
                self.w_company(c) * self.margin(i, j, c, a, b) for c in self.companies(i, j)
            ),
            same=False,
        )

    def rating(self, a):
        return sum(self.mean_margin(a, b) for b in range(self.n)) / self.n

    def cyclic(self):
        pairs = list(itertools.product(range(self.n), repeat=2))
        m = {(a, b): self.mean_margin(a, b) for a, b in pairs}
        whole = sum(x * x for x in m.values())
        if math.isnan(whole) or whole < 1e-18:
            return NAN
        r = {a: sum(m[a, b] for b in range(self.n)) / self.n for a in range(self.n)}
        return sum((m[a, b] - (r[a] - r[b])) ** 2 for a, b in pairs) / whole

    # ------------------------------------------------------------ slots

    def correlation(self, i, j):
        mean = [sum(w * self.R[l][s] for l, w in self.w.items()) for s in (i, j)]

        def moment(x, y, mx, my):
            return sum(w * (self.R[l][x] - mx) * (self.R[l][y] - my) for l, w in self.w.items())

        a, b = moment(i, i, mean[0], mean[0]), moment(j, j, mean[1], mean[1])
        if a < 1e-18 or b < 1e-18:
            return NAN
        return moment(i, j, *mean) / math.sqrt(a * b)

    def anticipation(self, i, j):
        if self.random is None:
            return NAN
        return sum(
            self.w_mind(i, a) * self.w_mind(j, b) * self.w_company(c)
            * (self.R[self.fill(c | {i: a, j: b})][i]
               - self.R[self.fill(c | {i: a, j: self.random})][i]) / 2
            for a in range(self.n) for b in range(self.n) for c in self.companies(i, j)
        )  # fmt: skip

    def potential(self, i, j):
        if self.random is None:
            return NAN

        def mean(a, b):
            return sum(
                self.w_company(c) * self.R[self.fill(c | {i: a, j: b})][i]
                for c in self.companies(i, j)
            )

        r = self.random
        return sum(
            self.w_mind(j, b)
            * max((mean(a, b) - mean(a, r) - mean(r, b) + mean(r, r)) / 4 for a in range(self.n))
            for b in range(self.n)
        )

    # ------------------------------------------------------------ symmetry

    def asymmetry(self, part):
        worst = 0.0
        for s in itertools.permutations(range(self.slots)):
            if not self.allowed(s, part):
                continue
            for l in self.lineups():
                after = [0] * self.slots
                for slot in range(self.slots):
                    after[s[slot]] = l[slot]
                for i in range(self.slots):
                    worst = max(worst, abs(self.R[l][i] - self.R[tuple(after)][s[i]]))
        return worst

    def allowed(self, s, part):
        images = [[s[slot] for slot in team] for team in self.teams]
        if part == "intra":
            return all(sorted(a) == sorted(t) for a, t in zip(images, self.teams, strict=True))
        if part == "inter":
            return all(a in self.teams for a in images)
        return all(sorted(a) in [sorted(t) for t in self.teams] for a in images)

    # ------------------------------------------------------------ all of it

    def all(self):
        def half(x, y):
            return ((x - y) / 2) ** 2

        def root(x):
            return math.sqrt(x)

        found = {
            "upsilon": self.upsilon(),
            "reward_dependency": self.over_slots(lambda i: self.reward(i, self.delta)),
            "fine_discrimination": self.over_slots(lambda i: self.fine(i, self.delta)),
            "coarse_discrimination": self.over_slots(lambda i: self.coarse(i, self.delta)),
            "reward_dependency.graded": self.over_slots(lambda i: root(self.reward(i, half))),
            "fine_discrimination.graded": self.over_slots(lambda i: root(self.fine(i, half))),
            "coarse_discrimination.graded": self.over_slots(lambda i: root(self.coarse(i, half))),
            "variance.me": self.over_slots(lambda i: self.split(i)[0]),
            "variance.them": self.over_slots(lambda i: self.split(i)[1]),
            "variance.match": self.over_slots(lambda i: self.split(i)[2]),
            "social_share": self.over_slots(lambda i: self.share(i, False)),
            "strategic_share": self.over_slots(lambda i: self.share(i, True)),
            "strict_total_grading": self.over_pairs(lambda i, j: self.grade(i, j, True), False),
            "partial_grading": self.over_pairs(lambda i, j: self.grade(i, j, False), False),
            "cyclic_share": self.cyclic(),
            "slot_reward_dependency": self.over_pairs(self.correlation, False),
            "competitive_anticipation": self.over_pairs(self.anticipation, False),
            "cooperative_anticipation": self.over_pairs(self.anticipation, True),
            "intra_team_asymmetry": self.asymmetry("intra"),
        }
        if len({len(team) for team in self.teams}) == 1:
            found["max_asymmetry"] = self.asymmetry("all")
            found["inter_team_asymmetry"] = self.asymmetry("inter")
        if self.acts:
            found["action_dependency"] = self.over_slots(lambda i: self.action(i, True))
            found["action_dependency.graded"] = self.over_slots(lambda i: self.action(i, False))
        return found
