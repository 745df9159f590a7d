"""What a chapter shows and how it is judged: claims, attacks, ladders, verdicts, tables, plots.

Chapters import from here: ``from lowdim.evidence import Ladder, attack, claim, say, verdict``.
Nothing is loaded until it is asked for, because the command line reads words from this room and
should answer at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.evidence import plots as plots
    from lowdim.evidence.archive import Kept as Kept
    from lowdim.evidence.archive import kept as kept
    from lowdim.evidence.attacks import (
        Claim as Claim,
    )
    from lowdim.evidence.attacks import (
        Climb as Climb,
    )
    from lowdim.evidence.attacks import (
        Findings as Findings,
    )
    from lowdim.evidence.attacks import (
        across as across,
    )
    from lowdim.evidence.attacks import (
        attack as attack,
    )
    from lowdim.evidence.attacks import (
        claim as claim,
    )
    from lowdim.evidence.attacks import (
        drawn as drawn,
    )
    from lowdim.evidence.attacks import (
        normal as normal,
    )
    from lowdim.evidence.attacks import (
        uniform as uniform,
    )
    from lowdim.evidence.ladder import Ladder as Ladder
    from lowdim.evidence.rates import exponent as exponent
    from lowdim.evidence.tables import Table as Table
    from lowdim.evidence.tables import matrix as matrix
    from lowdim.evidence.tables import short as short
    from lowdim.evidence.values import Estimate as Estimate
    from lowdim.evidence.values import Share as Share
    from lowdim.evidence.values import say as say
    from lowdim.evidence.verdicts import (
        compared as compared,
    )
    from lowdim.evidence.verdicts import (
        holds as holds,
    )
    from lowdim.evidence.verdicts import (
        judged as judged,
    )
    from lowdim.evidence.verdicts import (
        partly as partly,
    )
    from lowdim.evidence.verdicts import (
        proof_repaired as proof_repaired,
    )
    from lowdim.evidence.verdicts import (
        refuted as refuted,
    )
    from lowdim.evidence.verdicts import (
        repaired as repaired,
    )
    from lowdim.evidence.verdicts import (
        reproduced as reproduced,
    )
    from lowdim.evidence.verdicts import (
        undecidable as undecidable,
    )
    from lowdim.evidence.verdicts import (
        verdict as verdict,
    )

_HOME = {
    "attacks": (
        "Claim", "Climb", "Findings", "across", "attack", "claim", "drawn", "normal", "uniform",
    ),
    "archive": ("Kept", "kept"),
    "ladder": ("Ladder",),
    "rates": ("exponent",),
    "tables": ("Table", "matrix", "short"),
    "values": ("Estimate", "Share", "say"),
    "verdicts": (
        "compared", "holds", "judged", "partly", "proof_repaired", "refuted", "repaired",
        "reproduced", "undecidable", "verdict",
    ),
}  # fmt: skip
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE:
        return getattr(import_module(f"lowdim.evidence.{_MODULE[name]}"), name)
    if name == "plots":
        return import_module("lowdim.evidence.plots")
    raise AttributeError(f"lowdim.evidence has no {name!r}; it has {', '.join(sorted(_MODULE))}.")
