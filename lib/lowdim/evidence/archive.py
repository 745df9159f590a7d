"""Runs that were kept: what a larger run of the same chapter found.

``lowdim record`` writes them to ``book/records/<part>/<chapter>.<preset>.json``. A chapter asks for
its own by :func:`kept`; in a copy that left its book there is none.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.evidence.values import decode

__all__ = ["Kept", "kept"]


@dataclass(frozen=True)
class Kept:
    """A kept run: its record, and what is asked of it most."""

    record: dict[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of that run."""
        return self.record["parameters"]

    def larger(self, **sizes: float) -> bool:
        """Whether it is larger in every parameter named, so that it is nearer to the paper.

        Examples
        --------
        >>> Kept({"parameters": {"width": 100}}).larger(width=16)
        True
        """
        return all(self.parameters[name] > size for name, size in sizes.items())

    def ruling(self, name: str) -> dict[str, Any] | None:
        """What it found of the claim ``name`` (``figure-1``), or None.

        Examples
        --------
        >>> Kept({"claims": [{"id": "demo.figure-1", "verdict": "partly"}]}).ruling("figure-1")
        {'id': 'demo.figure-1', 'verdict': 'partly'}
        """
        found = (c for c in self.record["claims"] if c["id"].partition(".")[2] == name)
        return next(found, None)

    def value(self, name: str) -> Any:
        """The value that it said under ``name``, or None.

        Examples
        --------
        >>> Kept({"values": {"slope": {"value": -1.0, "error": 0.1}}}).value("slope").error
        0.1
        """
        return decode(self.record.get("values", {}).get(name))


def kept(preset: str = "paper") -> Kept | None:
    """The kept run of the chapter that is running, under ``preset``; None if there is none.

    Raises
    ------
    ValueError
        If the file is there and is not a record.

    Examples
    --------
    >>> kept("no such preset") is None
    True
    """
    root = os.environ.get("LOWDIM_ROOT")
    chapter = os.environ.get("LOWDIM_CHAPTER")
    if not root or not chapter:
        return None
    path = Path(root, "book", "records", f"{chapter}.{preset}.json")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        [claim["id"] for claim in record["claims"]]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} is not a record: {error!r}.") from None
    return Kept(record)
