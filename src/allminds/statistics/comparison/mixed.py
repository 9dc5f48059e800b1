"""The mixed model: does the score depend on the kind of mind, on complexity, on both together?

score ~ kind × K + (1 | person) + (1 | environment), by restricted maximum likelihood with
Satterthwaite's degrees of freedom (`random_effects`). Persons differ among themselves and so do
environments, beyond what kind and complexity explain; the model keeps that apart, so that 280
scores do not count as 280 independent ones. A row without a person (a program) has no person
effect. K is centred, so that the effect of kind is that at a mean complexity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from allminds.core.errors import Error
from allminds.statistics.comparison.random_effects import EDGE, Codes, LinearMixed
from allminds.statistics.comparison.table import Values, column

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 25_000_000  # persons × environments, whose table is held in memory


@dataclass(frozen=True)
class Term:
    """A fixed effect, with its 95 % interval and test by t."""

    name: str
    estimate: float
    stderr: float
    df: float  # Satterthwaite's; of persons or environments where their variance is at its edge
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True)
class Mixed:
    """The fitted model: its terms and variance components."""

    rows: int
    reference: str  # the kind that the others are compared with
    terms: tuple[Term, ...]
    persons: float  # the variance between persons
    environments: float  # the variance between environments
    residual: float
    log_likelihood: float  # restricted
    trouble: tuple[str, ...]  # what to bear in mind, in sentences


def mixed_model(
    frame: pd.DataFrame,
    complexity: str,
    kind: str = "kind",
    person: str = "person",
    environment: str = "exercise",
    score: str = "score",
) -> Mixed:
    """Fit score ~ kind × complexity + (1 | person) + (1 | environment).

    Rows whose person is missing or empty are those of programs, and have no person effect.
    """
    import pandas as pd

    names = {
        "score": score, "K": complexity, "kind": kind, "person": person,
        "environment": environment,
    }  # fmt: skip
    rows = pd.DataFrame({role: column(frame, name) for role, name in names.items()})
    rows = rows.dropna(subset=[role for role in names if role != "person"])
    rows["person"] = rows["person"].where(rows["person"].astype(str) != "")
    _check(rows, names)
    kinds = sorted(rows["kind"].astype(str).unique())
    design, terms = _design(rows, kinds, names)
    roles = ("person", "environment")
    factors = [pd.factorize(rows[role])[0].astype(np.intp) for role in roles]
    fitted = LinearMixed(rows["score"].to_numpy(float), design, factors)
    if fitted.exact:
        raise Error("nothing is left over: persons and environments explain every score exactly")
    edges = [part < EDGE * fitted.residual for part in fitted.components]
    most = _most(factors, edges)
    return Mixed(
        rows=len(rows),
        reference=kinds[0],
        terms=tuple(_term(fitted, n, name, most) for n, name in enumerate(terms)),
        persons=fitted.components[0],
        environments=fitted.components[1],
        residual=fitted.residual,
        log_likelihood=-fitted.deviance(fitted.theta) / 2,
        trouble=tuple(_at_edge(names[role]) for role, at in zip(roles, edges, strict=True) if at),
    )


def _check(rows: pd.DataFrame, names: dict[str, str]) -> None:
    for role in ("kind", "person", "environment", "K"):
        if rows[role].nunique() < 2:
            raise Error(f"a mixed model needs two or more values of '{names[role]}'")
    for role in ("person", "environment"):
        if rows[role].nunique() == rows[role].count():
            raise Error(
                f"every score has a '{names[role]}' of its own, so that the variance between them "
                "cannot be told from chance"
            )
    persons, environments = rows["person"].nunique(), rows["environment"].nunique()
    if persons * environments > MOST_CELLS:
        raise Error(
            f"{persons} persons × {environments} environments are too many for a mixed model; "
            f"at most {MOST_CELLS:,} pairs of them"
        )


def _design(
    rows: pd.DataFrame, kinds: list[str], names: dict[str, str]
) -> tuple[Values, list[str]]:
    """Build the fixed effects: kind (against the first), K (centred), and both together."""
    K = rows["K"].to_numpy(float)
    K = K - K.mean()
    is_kind = [(rows["kind"].astype(str) == kind).to_numpy(float) for kind in kinds[1:]]
    columns = [np.ones(len(K)), *is_kind, K, *(one * K for one in is_kind)]
    design = np.column_stack(columns)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise Error(f"some kind has a single value of '{names['K']}'; the model needs more")
    named = [f"{names['kind']} {kind}" for kind in kinds[1:]]
    together = [f"{name} × {names['K']}" for name in named]
    return design, ["intercept", *named, names["K"], *together]


def _most(factors: list[Codes], edges: list[bool]) -> float:
    """Compute the most degrees of freedom that a term may have.

    A variance estimated at 0 is not known to be 0, and Satterthwaite's rule would then count rows.
    """
    levels = [float(codes.max()) for codes, edge in zip(factors, edges, strict=True) if edge]
    return max(1.0, min(levels, default=np.inf))  # one fewer than the levels


def _term(fitted: LinearMixed, place: int, name: str, most: float) -> Term:
    found = fitted.contrast(np.eye(fitted.columns)[place])
    found = replace(found, df=min(found.df, most))
    return Term(name, found.estimate, found.stderr, found.df, found.interval(0.95), found.p)


def _at_edge(name: str) -> str:
    return (
        f"The variance between values of '{name}' is estimated at 0, the edge of what it can be: "
        "the data show no differences of that kind beyond chance. With few of them that is often "
        "chance itself, so that the degrees of freedom are at most their number less one."
    )
