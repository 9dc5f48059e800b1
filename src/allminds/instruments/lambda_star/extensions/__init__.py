"""The extensions of Λ* that Chmait et al. (2016) propose, a file each.

`coordination`: Good that takes several minds; `responsive`: a world that responds to them;
`coverage`: a land to be watched, and the minds that watch it. All three are Λ*'s own world but for
one rule each, so that with that rule switched off they are plain Λ*, step by step. The quick forms
are in `fast.extensions` beside this folder.
"""

from allminds import registry
from allminds.instruments import lambda_star
from allminds.instruments.lambda_star.extensions.coordination import (
    Coordination,
    LambdaStarCoordination,
)
from allminds.instruments.lambda_star.extensions.coverage import ALL, Coverage, LambdaStarCoverage
from allminds.instruments.lambda_star.extensions.responsive import LambdaStarResponsive, Responsive

_OF_THE_FUTURE = ("expert", "optimum", "imitation")  # where Good's way does not depend on the minds
for _name, _maker in lambda_star.MINDS.items():
    registry.mind(_name, LambdaStarCoordination.name if _name in _OF_THE_FUTURE else ALL)(_maker)

__all__ = [
    "Coordination",
    "Coverage",
    "LambdaStarCoordination",
    "LambdaStarCoverage",
    "LambdaStarResponsive",
    "Responsive",
]
