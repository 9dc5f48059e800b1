"""The extensions of Λ* that P4 §6.1 proposes: coordination, a world that responds, coverage.

Read `environment` (the three rules, the specification), `minds`, `instrument`. `odds` computes
the chance levels; `fast` has the quick forms of all three, with `kernels` for the responsive
world.
"""

from allminds.instruments.lambda_star.extensions import minds
from allminds.instruments.lambda_star.extensions.environment import (
    Coordination,
    Coverage,
    Responsive,
)
from allminds.instruments.lambda_star.extensions.instrument import (
    LambdaStarCoordination,
    LambdaStarCoverage,
    LambdaStarResponsive,
)

__all__ = [
    "Coordination",
    "Coverage",
    "LambdaStarCoordination",
    "LambdaStarCoverage",
    "LambdaStarResponsive",
    "Responsive",
    "minds",
]
