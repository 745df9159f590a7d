"""Write requirements.lock: every package that requirements.in brings in, as installed here.

Run by ``make lock``. Only what requirements.in needs is written, so a package that someone
installed by hand in the same environment does not slip in. A local version label (``+cpu``) is
left out, because which build of a package there is depends on the machine. One file serves all
supported Pythons; what only another Python than this one brings in is named, and left to pip.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
BUILD = ("setuptools", "wheel")  # what installing this repository itself needs
HERE = "{}.{}".format(*sys.version_info)
PYTHONS = ("3.11", "3.12", "3.13")
HEADER = """\
# Every package of the environment, pinned. Made by `make lock` from requirements.in; do not edit.
# pip itself is the one that came with Python. Packages that another platform's build of torch
# brings along are pinned by torch.
"""


def pythons(needed: Requirement, extras: frozenset[str]) -> list[str]:
    """The supported Pythons on which a package asks for ``needed``, installed with ``extras``."""
    return [
        python
        for python in dict.fromkeys((HERE, *PYTHONS))
        if needed.marker is None
        or any(
            needed.marker.evaluate(
                {"extra": extra, "python_version": python, "python_full_version": f"{python}.0"}
            )
            for extra in extras or {""}
        )
    ]


def closure(wanted: list[Requirement]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Name to version of ``wanted`` and all they require; and what only other Pythons require.

    Raises
    ------
    PackageNotFoundError
        If something that this Python needs is not installed.
    """
    found: dict[str, str] = {}
    elsewhere: dict[str, list[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        extras = frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        package = distribution(requirement.name)
        found[name] = Version(package.version).public
        for line in package.requires or ():
            needed = Requirement(line)
            if name == "torch" and "platform" in str(needed.marker):
                continue  # torch pins these itself, and only some of its builds have them
            where = pythons(needed, extras)
            if HERE in where:
                wanted.append(needed)
            elif where:
                elsewhere[canonicalize_name(needed.name)] = where
    return found, {name: where for name, where in elsewhere.items() if name not in found}


def main() -> int:
    """Write the lock; say in one sentence what is missing otherwise."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    asked = [line.partition("#")[0].strip() for line in lines]
    try:
        pins, elsewhere = closure([Requirement(line) for line in [*asked, *BUILD] if line])
    except PackageNotFoundError as missing:
        print(f"{missing.name} is required but not installed: run `make lock`.", file=sys.stderr)
        return 1
    left = "".join(
        f"# Left to pip, needed on Python {', '.join(elsewhere[name])} alone: {name}.\n"
        for name in sorted(elsewhere)
    )
    body = "".join(f"{name}=={pins[name]}\n" for name in sorted(pins))
    (ROOT / "requirements.lock").write_text(HEADER + left + body, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
