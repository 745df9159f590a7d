"""Everything that chapters import from this room, in one place."""

from __future__ import annotations

from lowdim.evidence.archive import Kept, kept
from lowdim.evidence.attacks import (
    Claim,
    Climb,
    Findings,
    across,
    attack,
    claim,
    drawn,
    normal,
    uniform,
)
from lowdim.evidence.ladder import Ladder
from lowdim.evidence.rates import exponent
from lowdim.evidence.tables import Table, matrix, short
from lowdim.evidence.values import Estimate, Share, say
from lowdim.evidence.verdicts import (
    compared,
    holds,
    judged,
    partly,
    proof_repaired,
    refuted,
    repaired,
    reproduced,
    undecidable,
    verdict,
)

__all__ = [
    "Claim", "Climb", "Estimate", "Findings", "Kept", "Ladder", "Share", "Table", "across",
    "attack", "claim", "compared", "drawn", "exponent", "holds", "judged", "kept", "matrix",
    "normal", "partly", "proof_repaired", "refuted", "repaired", "reproduced", "say", "short",
    "undecidable", "uniform", "verdict",
]  # fmt: skip
