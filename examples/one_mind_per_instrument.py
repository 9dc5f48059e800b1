"""A mind for every instrument, each written from its page in docs/instruments alone.

None is the best there is: each shows how a rule or two are written with the fields of the page. Try
one (in a game against other minds), or all of them:

    allminds evaluate landscape --mind examples/one_mind_per_instrument.py:Climber
    python examples/one_mind_per_instrument.py
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from allminds import MindBase, Random, Task, Traits, evaluate
from allminds.instruments.games import Board, Public, Round, Sight, Stock
from allminds.instruments.lambda_ import View as Space
from allminds.instruments.lambda_star import View
from allminds.instruments.matrices import Item as Matrix
from allminds.instruments.matrices import Panel
from allminds.instruments.series import Item


def best(actions: Sequence[int], value: Callable[[int], float], random: Random) -> int:
    """Return one of the actions with the highest value, by lot."""
    values = {action: value(action) for action in actions}
    return random.choice([one for one in actions if values[one] == max(values.values())])


# ---------------------------------------------------------------- questions


def series(observation: Item, random: Random) -> int:
    """Explain the letters as runs that repeat, each time some letters further (c-test)."""
    shown = [(n, ord(one) - ord("a")) for n, one in enumerate(observation.shown) if one != "_"]
    for period in range(1, len(shown)):
        for step in range(26):
            first: dict[int, set[int]] = {}  # letters of the first run, by their place in it
            for n, letter in shown:
                first.setdefault(n % period, set()).add((letter - step * (n // period)) % 26)
            times, at = divmod(observation.blank, period)
            if all(len(one) == 1 for one in first.values()) and at in first:
                answer = chr(ord("a") + (min(first[at]) + step * times) % 26)
                if answer in observation.options:
                    return observation.options.index(answer)
    return -1  # no answer


def attributes(panel: Panel) -> list[tuple[Any, ...]]:
    """List the values of a panel, each a tuple; those of a layer that is not there are ()."""
    figure, marks = panel.figure, panel.marks
    seen: list[tuple[Any, ...]] = [()] * 6
    if figure:
        seen = [figure.shape, figure.size, (figure.count,)]
        seen += [figure.colour, figure.angle, figure.place]
    return [*seen, *((marks.present, (marks.colour,)) if marks else ((), ()))]


def kinds(a: tuple[Any, ...], b: tuple[Any, ...], c: tuple[Any, ...]) -> set[object]:
    """Name the rules that three values of an attribute follow along a row."""
    found: set[object] = set()
    found |= {"constant"} if a == b == c else set()
    found |= {"three different ones"} if len({a, b, c}) == 3 else set()
    found |= {"sum"} if {*a, *b} == {*c} else set()
    found |= {"difference"} if {*a} - {*b} == {*c} else set()
    found |= {"each twice"} if {*a} ^ {*b} == {*c} else set()
    if all(len(one) == 1 and isinstance(one[0], (int, float)) for one in (a, b, c)):
        found |= {("steps of", b[0] - a[0])} if b[0] - a[0] == c[0] - b[0] else set()
        found |= {"plus"} if a[0] + b[0] == c[0] else set()
        found |= {"minus"} if a[0] - b[0] == c[0] else set()
    return found


def matrix(observation: Matrix, random: Random) -> int:
    """Choose the option with which row 3 follows most of what rows 1 and 2 share (matrices)."""
    cells = [attributes(panel) for panel in observation.cells]

    def worth(action: int) -> float:
        total = 0.0
        for n, value in enumerate(attributes(observation.options[action])):
            one, two, three = (
                [cell[n] for cell in cells[:3]],
                [cell[n] for cell in cells[3:6]],
                [cells[6][n], cells[7][n], value],
            )
            total += bool(kinds(*one) & kinds(*two) & kinds(*three))
            total += set(one) == set(two) == set(three)
        return total

    return best(range(len(observation.options)), worth, random)


# ---------------------------------------------------------------- on a torus


class OnTorus(MindBase):
    """Remembers the size of the torus, whose cells are numbered row by row from 1."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.rows, self.cols = int(task.facts["rows"]), int(task.facts["cols"])

    def cell(self, row: int, col: int) -> int:
        """Return the number of a cell; the edges are joined."""
        return row % self.rows * self.cols + col % self.cols + 1

    def distance(self, one: int, other: int) -> int:
        """Count the steps along rows and columns between two cells."""
        (row, col), (at, to) = divmod(one - 1, self.cols), divmod(other - 1, self.cols)
        down, right = abs(row - at), abs(col - to)
        return min(down, self.rows - down) + min(right, self.cols - right)


class Seeker(OnTorus):
    """Goes to the best cell it sees, else straight on (lambda-star and what is made of it)."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.way = 0

    def act(self, observation: View, random: Random) -> int:
        """Return a move, 1 to 9: action n leads to `cells[n - 1]`."""
        highest = max(observation.rewards)
        good = [n for n, reward in enumerate(observation.rewards, 1) if reward == highest]
        if highest > 0:
            return 5 if 5 in good else good[0]
        if self.way not in good or random.below(10) == 0:
            self.way = random.choice([way for way in good if way != 5] or good)
        return self.way


class Watcher(OnTorus):
    """Goes where most cells are new to it (lambda-star-coverage)."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.range, self.seen = task.facts["range"], set[int]()

    def act(self, observation: View, random: Random) -> int:
        """Return the move after which most of what it sees is new."""
        self.seen.update(observation.cells)

        def new(action: int) -> float:
            down, right = divmod(action - 1, 3)
            row, col = divmod(observation.cell - 1, self.cols)
            row, col = row + down - 1, col + right - 1
            near = range(-self.range, self.range + 1)
            return sum(self.cell(row + a, col + b) not in self.seen for a in near for b in near)

        return best([1, 2, 3, 4, 6, 7, 8, 9], new, random)


class Climber(MindBase):
    """Climbs, and leaves a hill that is not high enough while there is time (landscape)."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.left, self.walk, self.way = task.steps, 0, 0

    def act(self, observation: View, random: Random) -> int:
        """Return a move; its own cell is in the middle."""
        self.left, self.walk = self.left - 1, self.walk - 1
        if self.walk >= 0:
            return self.way
        highest = max(observation.rewards)
        here = observation.rewards[len(observation.rewards) // 2]
        if highest > here:
            return 1 + observation.rewards.index(highest)
        if here < 0.8 and self.left > 30:
            self.walk, self.way = 6, random.choice([1, 2, 3, 4, 6, 7, 8, 9])
        return 5


class Hunter(OnTorus):
    """Goes nearer to the prey, or as the prey away from the nearest predator (predator-prey)."""

    def act(self, observation: Sight, random: Random) -> int:
        """Return a move: 0 up, 1 left, 2 stay, 3 right, 4 down."""
        *predators, prey = observation.cells
        row, col = divmod(observation.cells[observation.slot] - 1, self.cols)

        def worth(action: int) -> float:
            down, right = ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0))[action]
            cell = self.cell(row + down, col + right)
            if observation.slot < len(predators):
                return -self.distance(cell, prey)
            return min(self.distance(cell, one) for one in predators)

        return best(range(5), worth, random)


# ---------------------------------------------------------------- in a graph of cells


class Chaser(MindBase):
    """Learns which symbol is Good and how symbols move (lambda and what is made of it)."""

    traits = Traits(learns=True)

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.gains = [0.0, 0.0]  # in the cells of the two symbols
        self.moves: list[Counter[tuple[int, int]]] = [Counter(), Counter()]

    def act(self, observation: Space, random: Random) -> int:
        """Return the action that leads to where Good is likely to be and Evil is not."""
        self.seen = observation
        good = int(self.gains[1] > self.gains[0])

        def likely(symbol: int, cell: int) -> float:
            now = observation.symbols[symbol]
            known = sum(n for (at, _), n in self.moves[symbol].items() if at == now)
            return self.moves[symbol][now, cell] / known if known else 0.1 * (cell == now)

        def worth(action: int) -> float:
            cell = observation.reachable[action]
            return likely(good, cell) - likely(1 - good, cell)

        return best(range(len(observation.reachable)), worth, random)

    def learn(self, reward: float, observation: Space | None, done: bool) -> None:
        """Note where the symbols went, and what their cells paid."""
        if observation is None:  # the last step
            return
        for symbol in (0, 1):
            way = self.seen.symbols[symbol], observation.symbols[symbol]
            self.moves[symbol][way] += 1
            if observation.symbols[symbol] == observation.cell:
                self.gains[symbol] += reward


# ---------------------------------------------------------------- games


class Answerer(MindBase):
    """Plays the best answer to all that the others did (games with a table of pay-offs)."""

    traits = Traits(learns=True)

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.slot, self.table = task.slot, task.facts["rules"].table
        self.actions = range(len(task.facts["rules"].labels))
        self.count: Counter[tuple[int, ...]] = Counter()

    def act(self, observation: Round, random: Random) -> int:
        """Return the action that would have paid most so far."""
        if observation.others:
            self.count[observation.others] += 1

        def paid(action: int) -> float:
            slot, total = self.slot, 0.0
            for others, n in self.count.items():
                total += n * self.table[*others[:slot], action, *others[slot:]][slot]
            return total

        return best(self.actions, paid, random)


class Harvester(MindBase):
    """Takes a share of what grows back, and all it can in the last round (commons)."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.rules, self.last = task.facts["rules"], task.steps - 1

    def act(self, observation: Stock, random: Random) -> int:
        """Return how many units to ask for."""
        rules = self.rules
        if observation.step == self.last:
            return int(rules.most)
        keep = max(range(rules.capacity + 1), key=lambda left: (rules.grown(left) - left, -left))
        return int(min(rules.most, max(1, (observation.stock - keep) // rules.players + 1)))


def crosses(observation: Board, random: Random) -> int:
    """Win, else block, else take the centre or a corner (noughts-and-crosses)."""
    rows = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    own = "xo"[observation.turn]
    for mark in (own, "xo".replace(own, "")):
        for row in rows:
            marks = [observation.cells[cell] for cell in row]
            if marks.count(mark) == 2 and "." in marks:
                return row[marks.index(".")]
    good = [cell for cell in (4, 0, 2, 6, 8) if cell in observation.legal]
    return good[0] if good else random.choice(observation.legal)


class Speaker(MindBase):
    """Does what pays most if the others do what they did last (pluralistic-ignorance)."""

    def begin(self, task: Task) -> None:
        super().begin(task)
        self.weight = task.facts["conformity"]

    def act(self, observation: Public, random: Random) -> int:
        """Return 0 to oppose or 1 to support."""

        def paid(action: int) -> float:
            alike = observation.others.count(action) / len(observation.others)
            true = 1 if action == observation.attitude else -1
            return float((1 - self.weight) * true + self.weight * (2 * alike - 1))

        return best((0, 1), paid, random)


MINDS: dict[str, Any] = {
    "c-test": series,
    "commons": Harvester,
    "lambda": Chaser,
    "lambda-anytime": Chaser,
    "lambda-staircase": Chaser,
    "lambda-star": Seeker,
    "lambda-star-coordination": Seeker,
    "lambda-star-coverage": Watcher,
    "lambda-star-responsive": Seeker,
    "landscape": Climber,
    "matching-pennies": Answerer,
    "matrices": matrix,
    "noughts-and-crosses": crosses,
    "pluralistic-ignorance": Speaker,
    "predator-prey": Hunter,
    "prisoners-dilemma": Answerer,
    "public-goods": Answerer,
    "rock-paper-scissors": Answerer,
    "stag-hunt": Answerer,
    "team-lambda": Chaser,
    "team-lambda-star": Seeker,
}

if __name__ == "__main__":
    for name, mind in MINDS.items():
        print(evaluate(name, {"mine": mind}, against="random", episodes=42), "\n")
