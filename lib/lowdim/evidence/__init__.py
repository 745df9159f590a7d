"""What a chapter shows and how it is judged: claims, attacks, ladders, verdicts, tables, plots.

Chapters import from here: ``from lowdim.evidence import Ladder, attack, claim, say, verdict``.
Nothing is loaded until it is asked for, because the command line reads words from this room and
should answer at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim.evidence._shelf import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from lowdim.evidence import _shelf

    if name not in _shelf.__all__:
        raise AttributeError(
            f"lowdim.evidence has no {name!r}; it has {', '.join(_shelf.__all__)}."
        )
    return getattr(_shelf, name)
