"""The authors' public rows: 20 tests of seven exercises, given to people and to Q-learning.

They are those of Insa-Cabrera et al. (2011). The file is not ours to ship; this reads it where a
user has it. Semicolons between columns, decimal commas, no heading. Of its columns, numbered from
1, these count:

- 1, 2: cells n_c, and actions n_a with action 0 (stay) among them;
- 3: the space, its cells parted by `|`; in each, every action from 1 on with a run of `+` or `-`,
  the offset of its destination on the ring of cells;
- 7: the pattern of Good and Evil: the letter p, then actions;
- 10: the subject, Human or QLearning;
- 11: steps; 16: the mean reward; 17 on: the reward of each step.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from allminds.core.errors import Error

if TYPE_CHECKING:
    import pandas as pd

Space = tuple[tuple[int | None, ...], ...]

SUBJECTS = {"Human": "people", "QLearning": "q-learning"}  # the file's names and ours
_COLUMNS = {"cells": 0, "actions": 1, "space": 2, "pattern": 6, "subject": 9, "steps": 10}
_SCORE, _REWARDS = 15, 16  # the reward of each step stands from column 17 on
_ROUNDING = 1e-6  # the file gives nine decimals


@dataclass(frozen=True)
class Row:
    """One exercise of one subject."""

    test: int  # 0..19: seven exercises, one of each number of cells
    cells: int
    actions: int
    space: Space  # by cell and action, the destination; None where the action is not allowed
    pattern: tuple[int, ...]
    subject: str  # "people" or "q-learning"
    steps: int
    score: float  # the mean reward
    rewards: tuple[int, ...]


def read_rows(path: str | Path) -> tuple[Row, ...]:
    """Read all rows of the authors' file, in its order.

    The file does not number its tests: the t-th row of a subject with so many cells is test t.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read {path}: {error}") from None
    rows: list[Row] = []
    seen: Counter[tuple[str, int]] = Counter()
    for number, line in enumerate(lines, start=1):
        if not line.strip(" ;\r"):
            continue
        try:
            row = _row(line.split(";"), seen)
        except Error as error:
            raise Error(f"{path}, line {number}: {error}") from None
        seen[row.subject, row.cells] += 1
        rows.append(row)
    if not rows:
        raise Error(f"{path} has no rows")
    return tuple(rows)


def _row(columns: list[str], seen: Counter[tuple[str, int]]) -> Row:
    if len(columns) <= _REWARDS:
        raise Error(f"{len(columns)} columns, but the authors' rows have {_REWARDS + 1} or more")
    text = {name: columns[at].strip() for name, at in _COLUMNS.items()}
    missing = [f"{name} (column {at + 1})" for name, at in _COLUMNS.items() if not text[name]]
    if missing:
        raise Error(f"nothing in the column for {missing[0]}")
    if text["subject"] not in SUBJECTS:
        raise Error(f"subject '{text['subject']}' in column 10 is neither Human nor QLearning")
    subject = SUBJECTS[text["subject"]]
    cells, actions = _count(text["cells"], 1), _count(text["actions"], 2)
    rewards = tuple(_reward(word, 17 + k) for k, word in enumerate(_given(columns[_REWARDS:])))
    steps = _count(text["steps"], 11)
    if len(rewards) != steps:
        raise Error(f"{len(rewards)} rewards for {steps} steps")
    return Row(
        test=seen[subject, cells],
        cells=cells,
        actions=actions,
        space=read_space(text["space"], cells, actions),
        pattern=_pattern(text["pattern"], actions),
        subject=subject,
        steps=steps,
        score=_score(columns[_SCORE], rewards),
        rewards=rewards,
    )


def read_space(text: str, cells: int, actions: int) -> Space:
    """Parse a space as the authors write it, such as `12-|1-2--|1++2--`, by cell and action."""
    parts = text.split("|")
    if len(parts) != cells:
        raise Error(f"the space has {len(parts)} cells, but column 1 says {cells}")
    return tuple(_exits(cell, part, cells, actions) for cell, part in enumerate(parts))


def _exits(cell: int, text: str, cells: int, actions: int) -> tuple[int | None, ...]:
    """List where each action leads from a cell: action 0 stays."""
    if not re.fullmatch(r"(\d(\++|-*))*", text):
        raise Error(f"cell {cell} of the space is '{text}', not action numbers with runs of + or -")
    exits: list[int | None] = [cell] + [None] * (actions - 1)
    for name, run in re.findall(r"(\d)(\++|-*)", text):
        action = int(name)
        if not 1 <= action < actions or exits[action] is not None:
            raise Error(f"cell {cell} of the space has action {action} twice or outside 1..n_a-1")
        offset = len(run) if run.startswith("+") else -len(run)
        exits[action] = (cell + offset) % cells
    return tuple(exits)


def _pattern(text: str, actions: int) -> tuple[int, ...]:
    if not re.fullmatch(r"p\d+", text):
        raise Error(f"'{text}' in column 7 is not a pattern: the letter p, then actions")
    pattern = tuple(int(digit) for digit in text[1:])
    if max(pattern) >= actions:
        raise Error(f"action {max(pattern)} of the pattern {text} is not below {actions}")
    return pattern


def _given(words: list[str]) -> list[str]:
    """Return the words of a line up to its empty end."""
    last = max((k for k, word in enumerate(words) if word.strip()), default=-1)
    return words[: last + 1]


def _count(text: str, column: int) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise Error(f"'{text}' in column {column} is not a whole number from 1 on")
    return int(text)


def _reward(text: str, column: int) -> int:
    if text.strip() not in ("-1", "0", "1"):
        raise Error(f"'{text.strip()}' in column {column} is not a reward of -1, 0 or 1")
    return int(text)


def _score(text: str, rewards: tuple[int, ...]) -> float:
    """Parse the mean reward; it must be that of the rewards beside it."""
    if not re.fullmatch(r"-?\d+([.,]\d+)?(E-?\d+)?", text.strip()):
        raise Error(f"'{text.strip()}' in column 16 is not a number")
    score = float(text.replace(",", "."))
    if abs(score) > 1:
        raise Error(f"the score {score:g} in column 16 lies outside -1..1")
    mean = sum(rewards) / len(rewards)
    if abs(score - mean) > _ROUNDING:
        raise Error(f"the score {score:g} in column 16 is not the mean of the rewards, {mean:g}")
    return score


def results(path: Path) -> pd.DataFrame:
    """Return the authors' rows as a results table, for ``allminds import``.

    Every test was sat by another person, and by a fresh learner. The complexity columns are those
    of the instrument; K_prefix is the K_approx of the authors' own figures.
    """
    import pandas as pd

    from allminds.instruments.lambda_.world import Space as Cells
    from allminds.instruments.lambda_.world import columns

    made = []
    for row in read_rows(path):
        half = len(row.rewards) // 2
        digits = "".join(map(str, row.pattern))
        made.append(
            {
                "exercise": f"lambda-2011/{row.test:02d}/{row.cells}",
                "instrument": "lambda",
                "index": 7 * row.test + row.cells - 3,
                "test": row.test,
                **columns(Cells(row.space), digits, 0.0),
                "mind": row.subject,
                "kind": "person" if row.subject == "people" else "program",
                "person": f"{row.subject} {row.test:02d}",
                "steps": row.steps,
                "score": row.score,
                "learning": sum(row.rewards[half:]) / (len(row.rewards) - half)
                - sum(row.rewards[:half]) / half,
            }
        )
    return pd.DataFrame(made)
