"""A mixed model: does the score depend on the kind of mind, on complexity, on both together?

score ~ kind × K + (1 | person) + (1 | environment), by restricted maximum likelihood. Persons
differ among themselves and so do environments, beyond what kind and complexity explain; the model
keeps that apart, so that 280 scores do not count as 280 independent ones. K is centred, so that the
effect of kind is that at a mean complexity.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from allminds.errors import Error
from allminds.psychometrics.comparison.table import Values, column

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 4000  # crossed effects need the covariance of all rows at once
AT_ZERO = 1e-4  # of the residual variance: a component below this is on its edge


@dataclass(frozen=True)
class Term:
    """A fixed effect, with Wald's 95 % interval and test."""

    name: str
    estimate: float
    stderr: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True)
class Mixed:
    """The fitted model."""

    rows: int
    reference: str  # the kind that the others are compared with
    terms: tuple[Term, ...]
    persons: float  # the variance between persons
    environments: float  # the variance between environments
    residual: float
    log_likelihood: float  # restricted
    converged: bool
    trouble: tuple[str, ...]  # what to bear in mind, in sentences


def mixed_model(
    frame: pd.DataFrame,
    complexity: str,
    kind: str = "kind",
    person: str = "person",
    environment: str = "exercise",
    score: str = "score",
) -> Mixed:
    """Fit score ~ kind × complexity + (1 | person) + (1 | environment)."""
    import pandas as pd

    names = {
        "score": score, "K": complexity, "kind": kind, "person": person,
        "environment": environment,
    }  # fmt: skip
    rows = pd.DataFrame({role: column(frame, name) for role, name in names.items()}).dropna()
    _check(rows, names)
    kinds = sorted(rows["kind"].astype(str).unique())
    design, terms = _design(rows, kinds, names)
    fitted = _fit(rows, design)
    residual = float(fitted.scale)
    persons, environments = (float(value) for value in fitted.vcomp)
    made = tuple(
        _term(name, float(value), float(stderr))
        for name, value, stderr in zip(terms, fitted.fe_params, fitted.bse_fe, strict=True)
    )
    return Mixed(
        rows=len(rows),
        reference=kinds[0],
        terms=made,
        persons=persons,
        environments=environments,
        residual=residual,
        log_likelihood=float(fitted.llf),
        converged=bool(fitted.converged),
        trouble=_trouble(
            {person: persons, environment: environments}, residual, bool(fitted.converged)
        ),
    )


def _check(rows: pd.DataFrame, names: dict[str, str]) -> None:
    if len(rows) > MOST_ROWS:
        raise Error(f"{len(rows)} rows are too many for a mixed model; {MOST_ROWS} will do")
    for role in ("kind", "person", "environment", "K"):
        if rows[role].nunique() < 2:
            raise Error(f"a mixed model needs two or more values of '{names[role]}'")
    for role in ("person", "environment"):
        if rows[role].nunique() == len(rows):
            raise Error(
                f"every score has a '{names[role]}' of its own, so that the variance between them "
                "cannot be told from chance"
            )


def _design(
    rows: pd.DataFrame, kinds: list[str], names: dict[str, str]
) -> tuple[Values, list[str]]:
    """The fixed effects: kind (against the first), K (centred), and both together."""
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


def _fit(rows: pd.DataFrame, design: Values) -> Any:
    """One group that holds all rows, and two crossed components of variance in it."""
    import pandas as pd
    from statsmodels.regression import mixed_linear_model as linear  # type: ignore[import-untyped]

    roles = ["person", "environment"]
    dummies = [pd.get_dummies(pd.factorize(rows[role])[0], dtype=float) for role in roles]
    parts = linear.VCSpec(
        roles,
        [[[str(name) for name in part.columns]] for part in dummies],
        [[part.to_numpy()] for part in dummies],
    )
    score = rows["score"].to_numpy(float)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what they would say is looked up and said in sentences
        model = linear.MixedLM(score, design, groups=np.zeros(len(rows)), exog_vc=parts)
        return model.fit(reml=True, method=["lbfgs", "bfgs", "powell"])


def _term(name: str, estimate: float, stderr: float) -> Term:
    from scipy.special import ndtr, ndtri

    reach = float(ndtri(0.975)) * stderr
    p = float(2 * ndtr(-abs(estimate) / stderr))
    return Term(name, estimate, stderr, (estimate - reach, estimate + reach), p)


def _trouble(components: dict[str, float], residual: float, converged: bool) -> tuple[str, ...]:
    said = []
    if not converged:
        said.append(
            "The fit did not converge: take its figures as rough, and rely on paired differences."
        )
    said += [
        f"The variance between values of '{name}' is estimated at 0, the edge of what it can be: "
        "the data show no differences of that kind beyond chance."
        for name, value in components.items()
        if value < AT_ZERO * residual
    ]
    return tuple(said)
