"""Sentences about one network that follow from its numbers, with their uncertainty.

They read the machine-readable form (:meth:`~lowdim.instruments.measuring.Measurement.as_json`), so
that a report can be written again from its JSON. Two numbers differ only if their ranges do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lowdim.hashing import oneshot
from lowdim.linalg import subspaces

__all__ = ["Found", "hypotheses", "number", "says", "shown"]

Found = dict[str, Any]
"""A measurement, or a part of one, as JSON has it."""


def number(layer: Found, part: str, name: str, split: str = "train") -> Found | None:
    """A number of a layer as a dictionary; None where it was not measured.

    Examples
    --------
    >>> layer = {"numbers": {"train": {"hashing": {"rho": {"value": 3.0}}}}}
    >>> number(layer, "hashing", "rho")["value"], number(layer, "hashing", "within")
    (3.0, None)
    """
    found = layer["numbers"].get(split, {}).get(part, {}).get(name)
    usable = found is not None and isinstance(found["value"], int | float)
    return found if usable else None


def shown(found: Found) -> str:
    """A value with its range, for a sentence.

    Examples
    --------
    >>> shown({"value": 0.51234, "low": 0.4, "high": 0.6, "kind": "jackknife"})
    '0.512 (95 %: 0.4 to 0.6)'
    """
    text = f"{found['value']:.3g}"
    if found.get("low") is None or found.get("high") is None:
        return text
    low, high = f"{found['low']:.3g}", f"{found['high']:.3g}"
    if low == high:
        return text
    name = "between" if found["kind"] == "enclosure" else "95 %:"
    joined = f"{low} and {high}" if name == "between" else f"{low} to {high}"
    return f"{text} ({name} {joined})"


def _change(a: Found, b: Found, words: tuple[str, str, str]) -> str:
    """Which of (less, more, no telling) leads from a to b."""
    ends = [x.get(k) for x in (a, b) for k in ("low", "high")]
    if None in ends:
        return words[0] if b["value"] < a["value"] else words[1]
    if b["high"] < a["low"]:
        return words[0]
    return words[1] if b["low"] > a["high"] else words[2]


def _having(m: Found, part: str, name: str, split: str = "train") -> list[tuple[Found, Found]]:
    """Layers with such a number."""
    pairs = [(layer, number(layer, part, name, split)) for layer in m["layers"]]
    return [(layer, found) for layer, found in pairs if found is not None]


def says(m: Found, part: str) -> str:
    """One sentence or two on what an instrument says of this network.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from lowdim.instruments.measuring import measure
    >>> model = nn.Linear(3, 2)
    >>> found = measure(model, torch.randn(30, 3), labels=torch.arange(30) % 2)
    >>> says(found.as_json(), "hashing")[:8]
    'At layer'
    """
    return {"preserve": _one, "collapse": _two, "embedded": _three, "hashing": _four}[part](m)


def _why(m: Found, part: str, name: str) -> str:
    for layer in reversed(m["layers"]):
        found = layer["numbers"]["train"].get(part, {}).get(name)
        if found is not None and found["reason"]:
            return found["reason"]
    return "it was not asked for"


def _one(m: Found) -> str:
    there = [x for x in _having(m, "preserve", "to_input") if x[0]["kind"] != "data"]
    if not there:
        return f"This could not be measured: {_why(m, 'preserve', 'to_input')}."
    layer, found = there[-1]
    n, r = m["splits"]["train"]["points"], m["rank"]
    chance = subspaces.chance(n, min(r, n))[0] ** 0.5
    text = (
        f"The row space of dimension {r} at layer {layer['name']} is {shown(found)} away from that "
        f"of the input, where 0 is the same, 1 orthogonal, and a random one would be at "
        f"{chance:.2f}."
    )
    at, first = number(layer, "preserve", "to_labels"), _having(m, "preserve", "to_labels")
    if at is not None and first and first[0][0]["kind"] == "data":
        start = first[0][1]
        word = _change(
            start, at, ("closer to the classes", "further from the classes", "no nearer or further")
        )
        text += (
            f" It is {word} than the input's: {shown(at)} away from the nearest projector that "
            f"shows them, the input's {shown(start)}."
        )
    return text


def _two(m: Found) -> str:
    shares = _having(m, "collapse", "within_share")
    tails = _having(m, "collapse", "tail")
    if len(shares) > 1:
        (a, start), (b, end) = shares[0], shares[-1]
        word = _change(start, end, ("falls", "rises", "does not change beyond its range"))
        text = (
            f"The share of the variance that lies within classes {word} from {shown(start)} at "
            f"{a['name']} to {shown(end)} at {b['name']}."
        )
    elif tails:
        layer, found = tails[-1]
        text = f"Beyond rank {m['clusters']} are {shown(found)} of the squares of {layer['name']}."
    else:
        return f"This could not be measured: {_why(m, 'collapse', 'tail')}."
    weights = [
        (layer["name"], name, w["soft_rank"]["value"], w["tail"]["value"])
        for layer in m["layers"]
        for name, w in layer["weights"].items()
        if "tail" in w and w["tail"]["value"] is not None
    ]
    if weights:
        name, which, rank, tail = min(weights, key=lambda w: w[3])
        text += (
            f" Of its weights, {which} of {name} is nearest to rank {m['clusters']}: {tail:.2g} of "
            f"its squares lie beyond, and {rank:.0f} singular values hold nine tenths of their sum."
        )
    return text


def _three(m: Found) -> str:
    there = [x for x in _having(m, "embedded", "ratio") if x[0]["kind"] != "data"]
    steps = [x for x in _having(m, "embedded", "normal_step") if x[0]["kind"] != "data"]
    if not there and not steps:
        return f"This could not be measured: {_why(m, 'embedded', 'ratio')}."
    where = f"the {m['tangent']} of {m['ambient']} directions in which the data lie"
    if not there:
        layer, found = steps[-1]
        return f"Normal to {where}, layer {layer['name']} changes at a rate of {shown(found)}."
    layer, found = there[-1]
    low, high = found.get("low"), found.get("high")
    word = "about as"
    if low is not None and low > 1:
        word = "more"
    elif high is not None and high < 1:
        word = "less"
    tail = {"about as": "as along them", "more": "than along them", "less": "than along them"}[word]
    return (
        f"Normal to {where}, layer {layer['name']} is {word} sensitive {tail}: the ratio of the "
        f"two derivatives is {shown(found)}."
    )


def _four(m: Found) -> str:
    there = _having(m, "hashing", "rho_mean")
    if not there:
        return f"This could not be measured: {_why(m, 'hashing', 'rho_mean')}."
    layer, found = there[-1]
    text = (
        f"At layer {layer['name']} the squared distance of points of two classes is {shown(found)} "
        "times that of points to the mean of their own, where pure noise is at 2"
    )
    for split, name in (("held_out", "held-out points"), ("unseen", "unseen classes")):
        other = number(layer, "hashing", "rho_mean", split)
        if other is not None:
            word = _change(found, other, ("less", "more", "no telling whether other"))
            text += f"; on {name} it is {shown(other)}, {word}"
    return text + "."


def hypotheses(m: Found, part: str) -> list[str]:
    """What the theorem behind an instrument does not say here, measured on this network.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from lowdim.instruments.measuring import measure
    >>> found = measure(nn.Linear(3, 2), torch.randn(30, 3), labels=torch.arange(30) % 2)
    >>> all(line.endswith(".") for line in hypotheses(found.as_json(), "hashing"))
    True
    """
    return {"preserve": _limits_one, "collapse": _limits_two, "embedded": _limits_three,
            "hashing": _limits_four}[part](m)  # fmt: skip


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _limits_one(m: Found) -> list[str]:
    out = []
    ratios = [x for x in _having(m, "preserve", "tangent") if x[0]["kind"] != "data"]
    loose = [layer["name"] for layer, found in ratios if found["value"] >= 1]
    if ratios:
        out.append(
            f"The bound allows angles above 45° at {len(loose)} of {len(ratios)} layers, where q "
            f"is 1 or more{': ' + _listed(loose) if loose else ''}; there it says little."
        )
    closed = [
        layer["name"]
        for layer in m["layers"]
        if (g := number(layer, "preserve", "gap_input")) is not None
        and g["value"] <= 0
        and layer["kind"] != "data"
    ]
    if closed:
        out.append(
            f"Theorem 3.1 asks for a gap between σ_r of the input and σ_(r+1) of the layer; it is "
            f"not positive at {_listed(closed)}."
        )
    start = m["layers"][0]
    tail = number(start, "collapse", "tail")
    if start["kind"] == "data" and tail is not None and m["clusters"] == m["rank"]:
        out.append(
            f"It speaks of data near a space of dimension r = {m['rank']}; here {shown(tail)} of "
            "the input's squares lie beyond."
        )
    return out or ["None of its numbers could be had here."]


def _limits_two(m: Found) -> list[str]:
    out = [
        "The bound needs the weight decay λ and the gradient of the loss, which a network does not "
        "carry with it; so no number is claimed for its right side."
    ]
    wide = [
        (layer["name"], found["value"])
        for layer, found in _having(m, "collapse", "within_share")
        if found["value"] > 0.5 and layer["kind"] != "data"
    ]
    if wide:
        out.append(
            f"Its right side is small only where classes are tight; more than half of the variance "
            f"is within classes at {_listed([name for name, _ in wide])}."
        )
    other = sorted(
        {layer["kind"] for layer in m["layers"] if layer["weights"]} - {"Linear", "Identity"}
    )
    if other:
        out.append(f"It is stated for dense layers; here are also {_listed(other)}.")
    return out


def _limits_three(m: Found) -> list[str]:
    if m["tangent"] is None:
        return ["There are no inputs of real numbers, and so no plane."]
    lost = 1 - m["settings"]["explained"]
    out = [
        f"Data must lie in a plane exactly; here up to {lost:.0%} of the variance was let go "
        f"to call {m['tangent']} of {m['ambient']} directions a plane."
    ]
    if m["tangent"] >= m["ambient"]:
        out.append("The data fill their space, and nothing is normal to them.")
    differ = [
        layer["name"]
        for layer, found in _having(m, "embedded", "normal")
        if found.get("error") and found["error"] > 0.05 * max(found["value"], 1e-12)
    ]
    if differ:
        out.append(
            "The derivative and a small step differ by more than a twentieth (kinks, or low "
            f"precision) at {_listed(differ)}."
        )
    out.append("It speaks of the first layer's weights and of plain gradient descent, not of Adam.")
    return out


def _limits_four(m: Found) -> list[str]:
    worst = _having(m, "hashing", "rho")
    if not worst:
        return ["Without two classes there is no ρ."]
    layer, found = worst[-1]
    if found["value"] <= 4:
        first = (
            f"The worst pair of classes at {layer['name']} is at ρ = {shown(found)}, not above 4: "
            "the bound promises nothing."
        )
    else:
        most = oneshot.bound(found["value"])
        first = (
            f"The worst pair of classes at {layer['name']} is at ρ = {shown(found)}: the bound "
            f"promises errors of at most {most:.0%}."
        )
    out = [first]
    if "unseen" not in m["splits"]:
        out.append("No classes were kept unseen, so that nothing is said of new ones.")
    if "held_out" not in m["splits"]:
        out.append("ρ was taken on the points that the network may have been trained on.")
    return out
