"""The proposals of Chmait et al. (2016, §6) beside Λ*, computed: six tests, and Figure 5.

The paper describes these tests and prints no scores. Exercises are few, so that the page is quick;
`allminds evaluate` gives more of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from allminds.papers.drawing import lines
from allminds.papers.paper import Part

if TYPE_CHECKING:
    from allminds.contracts import Exercise, Record
    from allminds.core.blocks import Block

MANY, FEW = 220, 22  # exercises of minds that have kernels, and of those that have none


@lru_cache(maxsize=64)
def _block(instrument: str, mind: str, exercises: int, **settings: Any) -> Block:
    """Play the first exercises with a mind, and return their block."""
    from allminds import registry
    from allminds.core.watch import Watch
    from allminds.episode import form

    tool = registry.make_instrument(instrument, settings)
    watch = Watch(10.0)
    with watch.running():
        return form(tool, registry.line_up(mind, tool), watch).play(1, 0, exercises, 0)


def _records(
    instrument: str, mind: str, exercises: int, **settings: Any
) -> list[tuple[Exercise, Record]]:
    """Play the first exercises with a mind, and keep every action."""
    from allminds import registry
    from allminds.episode import play_on

    tool = registry.make_instrument(instrument, settings)
    return play_on(tool, registry.line_up(mind, tool), 1, 0, exercises)


# ---------------------------------------------------------------- §6.1


def coordination() -> Part:
    """Plot the score against the number of minds that Good needs."""
    import pandas as pd

    from allminds import registry

    numbers = (1, 2, 3, 4, 5)
    name = "lambda-star-coordination"
    found = {
        mind: [float(_block(name, mind, MANY, needed=c).score.mean()) for c in numbers]
        for mind in ("optimum", "auction", "local-search", "dictator", "random")
    }
    found["chance"] = [registry.make_instrument(name, {"needed": c}).chance for c in numbers]
    drawn = {
        mind: list(zip(numbers, of, strict=True)) for mind, of in found.items() if mind != "random"
    }
    return Part(
        "Good pays only when c minds are near it",
        f"Five minds on 10 x 10, {MANY} exercises. With c = 1 this is Λ*. Those who search each "
        "for themselves lose most; a group that goes where one of them sees Good is there at once. "
        "The chance level is computed exactly.",
        pd.DataFrame({"c": numbers} | found),
        [("Score by the number needed.", lines(drawn, "minds needed c", "score", (-0.1, 1)))],
    )


def responsive() -> Part:
    """Plot the score against how often the world responds."""
    import pandas as pd

    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    found = {
        mind: [
            float(_block("lambda-star-responsive", mind, FEW, responsive=q).score.mean())
            for q in shares
        ]
        for mind in ("expert", "local-search", "random", "stay")
    }
    drawn = {mind: list(zip(shares, of, strict=True)) for mind, of in found.items()}
    return Part(
        "With chance q Good shuns the nearest mind, and Evil seeks it",
        f"One mind on 10 x 10, {FEW} exercises. With q = 0 this is Λ*. Whoever stays is found "
        "by Evil; even one who knows the next cells of both cannot catch a Good that always flees.",
        pd.DataFrame({"q": shares} | found),
        [("Score by q.", lines(drawn, "chance q of a response", "score", (-1, 1)))],
    )


def coverage() -> Part:
    """Plot the share of cells that a group has seen, over time."""
    import pandas as pd

    agents = 5
    minds = ("scouts", "explorer", "sweep", "random", "local-search", "dictator", "stay")
    drawn, rows = {}, []
    for mind in minds:
        block = _block("lambda-star-coverage", mind, FEW, agents=agents)
        seen = block.curve / (FEW * agents)
        if mind != "explorer":  # more lines than these an eye cannot tell apart
            drawn[mind] = [(step + 1, float(share)) for step, share in enumerate(seen)]
        rows.append({"mind": mind, "score": float(block.score.mean()), "step 10": seen[9],
                     "step 50": seen[49]})  # fmt: skip
    return Part(
        "The share of cells seen by a group, over time",
        f"Five minds on 20 x 20, {FEW} exercises; the score is the mean over the steps. Following "
        "a leader or sitting on Good, which pays in Λ*, is the opposite of keeping watch.",
        pd.DataFrame(rows),
        [("Share of cells seen.", lines(drawn, "step", "share of cells", (0, 1)))],
    )


# ---------------------------------------------------------------- §6.2


def landscape() -> Part:
    """Measure exploration and exploitation on fitness landscapes, and draw one of them."""
    import pandas as pd

    rows = [
        _measured(mind, drift, agents)
        for drift in (0.0, 0.1)
        for mind, agents in (
            ("random", 1), ("hill-climber", 1), ("explorer", 1), ("restarts", 1), ("optimum", 1),
            ("hill-climber", 5), ("scouts", 5),
        )
    ]  # fmt: skip
    return Part(
        "Many local optima and one global one, still or drifting",
        f"20 x 20, 2 to 16 hills, 100 steps, {FEW // 2} exercises. Fitness is 0 on average and 1 "
        "at the global optimum. With drift a hill moves in a tenth of the steps. Exploitation is "
        "the mean reward, exploration the distinct cells stood on as a share of those that could "
        "have been; regret is 1 less exploitation.",
        pd.DataFrame(rows),
    )


def _measured(mind: str, drift: float, agents: int) -> dict[str, Any]:
    from statistics import fmean, median

    from allminds.instruments.landscape import measures

    found = [
        measures(exercise, record)
        for exercise, record in _records("landscape", mind, FEW // 2, drift=drift, agents=agents)
    ]
    steps = [one.steps_to_optimum for one in found if one.steps_to_optimum is not None]
    return {
        "mind": mind, "minds": agents, "drift": drift,
        "exploitation": fmean(one.exploitation for one in found),
        "exploration": fmean(one.exploration for one in found),
        "regret": fmean(one.regret for one in found),
        "found it": len(steps) / len(found),
        "in steps": median(steps) if steps else float("nan"),
    }  # fmt: skip


def figure_5() -> Part:
    """Draw a landscape with many local optima and one global one, with minds on it."""
    import pandas as pd

    drawn = [_drawn("hill-climber", 3), _drawn("hill-climber", None), _drawn("scouts", 12)]
    rows = [{"mind": "hill-climber", "step": "3 and last"}, {"mind": "scouts", "step": "12"}]
    return Part(
        "Early stages of a simulation on a fitness landscape",
        "A landscape of ours with 16 hills; the paper's is not described. Colours are fitness from "
        "-1 to 1.",
        pd.DataFrame(rows), drawn,
    )  # fmt: skip


def _drawn(mind: str, step: int | None) -> tuple[str, str]:
    """Draw minds as black stars on the colours of fitness."""
    from allminds.instruments.landscape.present import picture

    ((exercise, record),) = _records("landscape", mind, 1, agents=8, peaks="16")
    when = "in the end" if step is None else f"after step {step}"
    return (
        f"Eight minds, {mind}, {when}. Stars are minds, dots where they began, the "
        "ring is the global optimum.",
        picture(exercise, record, step),
    )


# ---------------------------------------------------------------- §6.3


def commons() -> Part:
    """Compute the tragedy of the commons, by how many minds take all they can."""
    import pandas as pd

    rows = []
    for greedy in range(5):
        seats = ["greedy"] * greedy + ["sustain"] * (4 - greedy)
        ((exercise, record),) = _records("commons", ",".join(seats), 1)
        world: Any = exercise.environment
        collapse = world.collapse(record)
        rows.append({
            "greedy": greedy, "sustain": 4 - greedy, "tragedy 1 - W/W*": world.tragedy(record),
            "against what lasts": world.tragedy(record, "lasting"),
            "collapse at step": float("nan") if collapse is None else collapse,
            "W": sum(world.harvests(record)) / record.steps, "W*": world.best_harvest,
            "W* that lasts": world.lasting_harvest,
        })  # fmt: skip
    return Part(
        "1 - W/W*, and the step of collapse",
        "Four minds, a stock of 24, ten steps. If all take all, nothing is left after three steps. "
        "W* is the most that ten steps can yield, by dynamic programming. Beside it stands the "
        "most that can be taken for ever; a tragedy below 0 against that one says that the stock "
        "itself was eaten.",
        pd.DataFrame(rows),
    )


def pluralistic_ignorance() -> Part:
    """Compute how far public acts are from private attitudes, by the weight of conformity."""
    import pandas as pd

    rows = []
    for mind in ("honest", "conform", "best-reply"):
        for weight in (0.2, 0.4, 0.6, 0.8):
            ((exercise, record),) = _records("pluralistic-ignorance", mind, 1, conformity=weight)
            world: Any = exercise.environment
            size, flagged = world.ignorance(record)
            rows.append({"mind": mind, "conformity": weight, "ignorance": size,
                         "opposite": "yes" if flagged else "no"})  # fmt: skip
    return Part(
        "|Mean public act - mean private attitude| / 2",
        "Five minds, four of whom oppose in private what all have supported in public. Best "
        "replies keep a norm alive that hardly anybody holds as soon as agreement weighs more than "
        "truth. Public and private are opposite if their means have different signs.",
        pd.DataFrame(rows),
    )


PARTS = {
    "coordination": coordination,
    "responsive": responsive,
    "coverage": coverage,
    "landscape": landscape,
    "commons": commons,
    "pluralistic-ignorance": pluralistic_ignorance,
}
