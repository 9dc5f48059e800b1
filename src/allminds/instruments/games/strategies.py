"""Classic strategies of the iterated dilemma, with the authors who described them.

They are told nothing but what both did in the round before; what more they need to know they
count. In the stag hunt, stag is to cooperate and hare to defect. With `slip` a strategy's hand
trembles: in that share of rounds it does the other thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allminds.contracts import Task, Traits
from allminds.core.bases import PolicyMind
from allminds.core.errors import Error
from allminds.instruments.games.game import Round
from allminds.registry import mind

C, D = 0, 1
DILEMMAS = ("prisoners-dilemma", "stag-hunt")


@dataclass
class Strategy(PolicyMind):
    """Cooperates with a chance: override `reply`, and `opening` if it is not 1."""

    slip: float = 0.0

    opening = 1.0  # chance to cooperate in the first round
    by_lot = False  # whether its chances are other than 0 and 1

    def __post_init__(self) -> None:
        """Require a `slip` in [0, 1]."""
        if not 0 <= self.slip <= 1:
            raise Error(f"{type(self).__name__}: slip must be in [0, 1], not {self.slip:g}")
        self.traits = Traits(deterministic=not self.by_lot and self.slip == 0)

    def begin(self, task: Task) -> None:
        """Forget all earlier rounds."""
        super().begin(task)
        self.remember_nothing()

    def remember_nothing(self) -> None:
        """Set all counts back to the start."""

    def reply(self, own: int, other: int) -> float:
        """Return the chance to cooperate after a round in which these were done."""
        raise NotImplementedError

    def policy(self, observation: Round) -> Sequence[float]:
        """Return the chances to cooperate and to defect."""
        chance = self.opening
        if observation.others:
            chance = self.reply(observation.own, observation.others[0])
        if self.slip:
            chance = chance * (1 - self.slip) + (1 - chance) * self.slip
        return [chance, 1 - chance]


# ---------------------------------------------------------------- memory of one round


class MemoryOne(Strategy):
    """Goes by the last round alone: `after` has the chances after CC, CD, DC and DD."""

    after: tuple[float, float, float, float]  # own action first

    def reply(self, own: int, other: int) -> float:
        """Look up the chance in the table."""
        return self.after[2 * own + other]


@mind("tit-for-tat", DILEMMAS)
class TitForTat(MemoryOne):
    """Cooperates first, then does what the other did (Rapoport; Axelrod 1984)."""

    after = (1.0, 0.0, 1.0, 0.0)


@mind("suspicious-tit-for-tat", DILEMMAS)
class SuspiciousTitForTat(TitForTat):
    """Tit for tat that defects first (Boyd and Lorberbaum 1987)."""

    opening = 0.0


@dataclass
@mind("generous-tit-for-tat", DILEMMAS)
class GenerousTitForTat(Strategy):
    """Tit for tat that forgives a defection with a chance of 1/3 (Nowak and Sigmund 1992).

    1/3 = min(1 - (T-R)/(R-S), (R-P)/(T-P)) for the pay-offs 5, 3, 1, 0.
    """

    generosity: float = 1 / 3

    by_lot = True

    def __post_init__(self) -> None:
        """Require a `generosity` in [0, 1]."""
        super().__post_init__()
        if not 0 <= self.generosity <= 1:
            raise Error(f"generous-tit-for-tat: generosity is in [0, 1], not {self.generosity:g}")

    def reply(self, own: int, other: int) -> float:
        """Copy the other, but forgive with chance `generosity`."""
        return 1.0 if other == C else self.generosity


@mind("joss", DILEMMAS)
class Joss(MemoryOne):
    """Tit for tat that defects unprovoked one time in ten (Johann Joss; Axelrod 1980)."""

    after = (0.9, 0.0, 0.9, 0.0)
    by_lot = True


@mind("win-stay-lose-shift", DILEMMAS)
class WinStayLoseShift(MemoryOne):
    """Repeats what paid, changes what did not; "Pavlov" (Kraines 1989; Nowak and Sigmund 1993)."""

    after = (1.0, 0.0, 0.0, 1.0)


@mind("firm-but-fair", DILEMMAS)
class FirmButFair(MemoryOne):
    """Retaliates, but makes up after it gained, and mostly after both lost (Frean 1994)."""

    after = (1.0, 0.0, 1.0, 2 / 3)
    by_lot = True


@mind("extortion", DILEMMAS)
class Extortion(MemoryOne):
    """Extort-2: forces its gain above P to be twice the other's (Press and Dyson 2012).

    After Stewart and Plotkin (2012), for the pay-offs 5, 3, 1, 0.
    """

    after = (8 / 9, 1 / 2, 1 / 3, 0.0)
    by_lot = True


@mind("alternate", DILEMMAS)
class Alternate(MemoryOne):
    """Cooperates and defects by turns (Axelrod 1984)."""

    after = (0.0, 0.0, 1.0, 1.0)


# ---------------------------------------------------------------- a longer memory


@mind("grim", DILEMMAS)
class Grim(Strategy):
    """Cooperates until the other defects, then never again (Friedman 1971)."""

    def remember_nothing(self) -> None:
        """Begin without a grudge."""
        self.grudge = False

    def reply(self, own: int, other: int) -> float:
        """Defect for ever after one defection."""
        self.grudge = self.grudge or other == D
        return 0.0 if self.grudge else 1.0


@mind("tit-for-two-tats", DILEMMAS)
class TitForTwoTats(Strategy):
    """Defects only after two defections in a row (Axelrod 1984)."""

    def remember_nothing(self) -> None:
        """Begin with no defection counted."""
        self.tats = 0

    def reply(self, own: int, other: int) -> float:
        """Defect after two defections in a row."""
        self.tats = min(self.tats + 1, 2) if other == D else 0
        return 0.0 if self.tats == 2 else 1.0


@mind("two-tits-for-tat", DILEMMAS)
class TwoTitsForTat(Strategy):
    """Defects twice after every defection (Axelrod 1984)."""

    def remember_nothing(self) -> None:
        """Begin with no retaliation due."""
        self.owed = 0

    def reply(self, own: int, other: int) -> float:
        """Defect in the two rounds after a defection."""
        self.owed = 2 if other == D else max(self.owed - 1, 0)
        return 0.0 if self.owed else 1.0


@mind("contrite-tit-for-tat", DILEMMAS)
class ContriteTitForTat(Strategy):
    """Tit for tat that bears punishment it earned (Sugden 1986; Boyd 1989; Wu and Axelrod 1995).

    A player is in good standing while it cooperates, and while it defects in good standing on
    one in bad. It defects only on the other's bad standing, and only if its own is good.
    """

    def remember_nothing(self) -> None:
        """Begin with both in good standing."""
        self.good = self.other_good = True

    def reply(self, own: int, other: int) -> float:
        """Update both standings, and reply by them."""
        justified, others_justified = self.good > self.other_good, self.other_good > self.good
        self.good, self.other_good = own == C or justified, other == C or others_justified
        return 0.0 if self.good and not self.other_good else 1.0


@mind("gradual", DILEMMAS)
class Gradual(Strategy):
    """Answers the n-th defection with n of its own, then plays two peaceful rounds.

    Described by Beaufils, Delahaye and Mathieu (1997). Defections during either count, but start
    nothing new.
    """

    def remember_nothing(self) -> None:
        """Begin in peace, without any defections."""
        self.defections = self.punishing = self.calming = 0

    def reply(self, own: int, other: int) -> float:
        """Punish, calm, or watch."""
        self.defections += other == D
        if other == D and not self.punishing and not self.calming:
            self.punishing = self.defections
            self.calming = 2
        if self.punishing:
            self.punishing -= 1
            return 0.0
        self.calming = max(self.calming - 1, 0)
        return 1.0


@mind("soft-majority", DILEMMAS)
class SoftMajority(Strategy):
    """Cooperates while the other has cooperated at least as often as not (Axelrod 1984)."""

    def remember_nothing(self) -> None:
        """Begin with no rounds counted."""
        self.balance = 0

    def reply(self, own: int, other: int) -> float:
        """Do what the other did more often; cooperate if equal."""
        self.balance += 1 if other == C else -1
        return 1.0 if self.balance >= 0 else 0.0


@mind("tester", DILEMMAS)
class Tester(Strategy):
    """Defects first; if answered plays tit for tat, else defects every other round (Axelrod 1980).

    Submitted by David Gladstein: at the first answer it makes up for it, then plays tit for tat.
    """

    opening = 0.0

    def remember_nothing(self) -> None:
        """Begin with no answer so far."""
        self.answered, self.rounds = False, 0

    def reply(self, own: int, other: int) -> float:
        """Cooperate in rounds 2 and 3, then defect every other round."""
        if self.answered:
            return 1.0 if other == C else 0.0
        self.rounds += 1
        self.answered = other == D
        peaceful = self.answered or self.rounds <= 2 or self.rounds % 2 == 0
        return 1.0 if peaceful else 0.0


@mind("prober", DILEMMAS)
class Prober(Strategy):
    """Plays D, C, C; then defects for ever on one that let it pass, else plays tit for tat.

    Described by Li, Hingston and Kendall (2011).
    """

    opening = 0.0

    def remember_nothing(self) -> None:
        """Begin with nothing tried."""
        self.rounds, self.easy = 0, True

    def reply(self, own: int, other: int) -> float:
        """Look at the other's second and third action."""
        self.rounds = min(self.rounds + 1, 4)
        if self.rounds in (2, 3):
            self.easy = self.easy and other == C
        if self.rounds <= 2:
            return 1.0
        return 0.0 if self.easy or other == D else 1.0


# ---------------------------------------------------------------- strategies that adapt


@dataclass
@mind("adaptive-tit-for-tat", DILEMMAS)
class AdaptiveTitForTat(Strategy):
    """Cooperates while a running mean of the other's cooperation is 1/2 or more.

    Described by Tzafestas (2000).
    """

    rate: float = 0.5

    def remember_nothing(self) -> None:
        """Begin with a mean of one half."""
        self.world = 0.5

    def reply(self, own: int, other: int) -> float:
        """Update w ← w + r (1 - w) after cooperation, w - r w after defection."""
        self.world += self.rate * ((1.0 if other == C else 0.0) - self.world)
        return 1.0 if self.world >= 0.5 else 0.0


@mind("adaptive", DILEMMAS)
class Adaptive(Strategy):
    """Plays C six times, D five times, then what paid better on average, C if equal.

    Described by Li, Hingston and Kendall (2011).
    """

    def begin(self, task: Task) -> None:
        """Learn the pay-offs of the game."""
        super().begin(task)
        table, slot = task.facts["rules"].table, task.slot
        self.paid = tuple(
            table[(a, b) if slot == 0 else (b, a)][slot] for a in (C, D) for b in (C, D)
        )

    def remember_nothing(self) -> None:
        """Begin with nothing tried."""
        self.counts = (0, 0, 0, 0)  # CC, CD, DC, DD

    def reply(self, own: int, other: int) -> float:
        """Count the round, then choose; counts make the order of sums irrelevant."""
        counts = list(self.counts)
        counts[2 * own + other] += 1
        self.counts = (counts[0], counts[1], counts[2], counts[3])
        rounds = sum(counts)
        if rounds < 11:
            return 1.0 if rounds < 6 else 0.0
        cooperating, defecting = self._mean(0), self._mean(2)
        return 1.0 if cooperating >= defecting else 0.0

    def _mean(self, first: int) -> float:
        """Compute the mean pay-off of an action; with `slip` it may not have been tried."""
        here = self.counts[first : first + 2]
        total = here[0] * self.paid[first] + here[1] * self.paid[first + 1]
        return total / sum(here) if sum(here) else -1.0
