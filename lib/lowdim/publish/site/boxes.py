"""Boxes of statements: their colour says what became of a claim, not what kind of block it is.

A box is grey where the printed claim stands, amber where it was repaired or met in part, red where
it is false or was not found, blue where the text leaves it open, green where this book proves it.
Its title bar has the name, the verdict and a sign that links to the box. Printed claims after the
two main ones are folded; their title bar has the claim in one line as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from sphinx.transforms import SphinxTransform

from lowdim.evidence.vocabulary import ID, claim_name, kind_of
from lowdim.publish.directives import ClaimDirective, badge_nodes, chapter_of, record_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import SphinxDirective

OPEN = 2  # printed claims of a chapter that are not folded
TONES = {
    "holds": "stands",
    "proof-repaired": "stands",
    "reproduced": "stands",
    "repaired": "mended",
    "partly": "mended",
    "refuted": "false",
    "not-reproduced": "false",
    "undecidable": "open",
}
PROVED = {"theorem", "lemma", "proposition", "corollary"}  # here, where no claim is named
_NUMBERED = re.compile(r"§|(?:Theorem|Lemma|Proposition|Corollary|Definition|Remark) \d")


LINKS = ("pending_xref", "reference")
PHRASES = ("a", "p", "span", "summary")  # elements of words, where a reference may stand


class tag(nodes.General, nodes.Element):  # as docutils names its nodes
    """An HTML element; make it with :func:`element`."""


class phrase(nodes.General, nodes.TextElement):
    """An HTML element of words; make it with :func:`element`."""


class says(nodes.General, nodes.Element):
    """A claim in one line, on its way from its directive to its title bar."""


def setup(app: Sphinx) -> None:
    """Register the nodes, what keeps a claim's line, and the transform."""
    for node in (tag, phrase):
        app.add_node(node, html=(_open, _close), latex=(_pass, _pass), text=(_pass, _pass))
    app.add_directive("claim", Claim, override=True)
    _let_proofs_keep_their_line()
    app.add_transform(Boxes)


def element(
    name: str, *children: nodes.Node, classes: Iterable[str] = (), **attributes: str
) -> nodes.Element:
    """An HTML element with these children; an underscore in an attribute is a hyphen.

    Examples
    --------
    >>> element("p", nodes.Text("x"), classes=["note"], aria_label="why")["html"]
    {'aria-label': 'why'}
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    made: nodes.Element = phrase() if name in PHRASES else tag()
    made.update_basic_atts({"classes": list(classes)})
    made["tag"], made["html"] = name, given
    made += children
    return made


def _open(self: Any, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, node["tag"], "", **node["html"]))


def _close(self: Any, node: nodes.Element) -> None:
    self.body.append(f"</{node['tag']}>")


def _pass(self: Any, node: nodes.Element) -> None:
    pass


def tone(claim: str, verdict: str) -> str:
    """How the box of a claim is coloured.

    Examples
    --------
    >>> tone("preserve.lemma-4-1", "proof-repaired"), tone("preserve.lemma-4-2", "repaired")
    ('stands', 'mended')
    >>> tone("preserve.section-5", "refuted"), tone("preserve.new-tangent", "holds")
    ('false', 'ours')
    """
    found = TONES[verdict]
    return "ours" if kind_of(claim) == "new" and found == "stands" else found


def main_claims(claims: Iterable[str], title: str, *, many: int = OPEN) -> list[str]:
    """The printed claims that a chapter is about: those that its title names, then the first.

    Examples
    --------
    >>> main_claims(["hashing.lemma-3", "hashing.lemma-26", "hashing.theorem-7"], "Theorem 7 — so")
    ['hashing.theorem-7', 'hashing.lemma-3']
    """
    printed = [claim for claim in claims if kind_of(claim) != "new"]
    head = re.split(r"\s+[—–]\s+", title)[0]
    named = [c for c in printed if re.search(rf"\b{re.escape(claim_name(c))}(?![\w.])", head)]
    rest = [claim for claim in printed if claim not in named]
    return [*named, *rest][: max(many, len(named))]


class Claim(ClaimDirective):
    """A ``{claim}`` block that keeps its line for the title bar."""

    def run(self) -> list[nodes.Node]:
        """The container of the block, with its claim and its line."""
        box = cast(nodes.Element, super().run()[0])
        box["states"] = f"{self.chapter.partition('/')[0]}.{self.arguments[0]}"
        box += _line(self)
        return [box]


def _line(directive: SphinxDirective) -> says:
    given = directive.options.get("says")
    text = given or " ".join(" ".join(directive.content).split())
    found, messages = directive.state.inline_text(text, directive.lineno)
    kept = says("", *found, *messages, whole=not given)
    for link in [n for n in kept.findall(nodes.Element) if n.tagname in LINKS]:
        link.replace_self(link.children)  # a title bar that unfolds holds no other link
    return kept


def _let_proofs_keep_their_line() -> None:
    # sphinx-proof writes a title as " (Weyl)", and draws each box with its id twice.
    from sphinx_proof.directive import ElementDirective
    from sphinx_proof.nodes import unenumerable_node

    plain = ElementDirective.run
    if getattr(plain, "keeps_line", False):
        return

    def run(self: Any) -> list[nodes.Node]:
        box, *source = plain(self)
        if not isinstance(box, unenumerable_node):
            return [box, *source]
        found, messages = self.state.inline_text(" ".join(self.arguments), self.lineno)
        box.replace(box[0], nodes.title("", "", *found, *messages))
        box += source
        if ID.match(self.options.get("label", "")):
            box["states"] = self.options["label"]
            box += _line(self)
        return [box]

    run.keeps_line = True  # type: ignore[attr-defined]  # a mark: other builds in this process
    ElementDirective.run = run


class Boxes(SphinxTransform):
    """Make the boxes of a page."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Put ours in the place of every statement's node."""
        from sphinx_proof.nodes import proof_node, unenumerable_node

        for proof in self.document.findall(proof_node):
            for inner in proof.children:
                cast(nodes.Element, inner)["ids"] = []  # the same for all proofs of the page
        found = [
            node
            for node in self.document.findall(nodes.Element)
            if isinstance(node, unenumerable_node) or "states" in node
        ]
        if not found:
            return
        rulings = {
            claim["id"]: claim
            for claim in record_of(self.env, chapter_of(self.env.docname))["claims"]
        }
        heading = next(iter(self.document.findall(nodes.title))).astext()
        # A chapter may be labelled after its claim: that name is the chapter's then.
        headed = {name for part in self.document.findall(nodes.section) for name in part["ids"]}
        stated = [node["states"] for node in found if "states" in node]
        unfolded = main_claims(stated, heading)
        make_room(self.document, stated)
        for node in found:
            claim = node.get("states", "")
            fold = kind_of(claim) != "new" and claim not in unfolded if claim else False
            made = box(node, rulings.get(claim), folded=fold)
            made["ids"] = [name for name in made["ids"] if name not in headed]
            node.replace_self(made)


def make_room(document: nodes.document, claims: Iterable[str]) -> None:
    """Give way where a chapter has the label that its claim's id becomes.

    The chapter ``(preserve-theorem-3-1)=`` is then found at ``#chapter-preserve-theorem-3-1``, by
    all references to it, and the place is the statement's alone.

    Examples
    --------
    >>> from docutils.utils import new_document
    >>> page, section = new_document(""), nodes.section(names=["preserve-theorem-3-1"])
    >>> page += section; page.note_explicit_target(section)
    >>> make_room(page, ["preserve.theorem-3-1"])
    >>> section["ids"], page.nameids["preserve-theorem-3-1"]
    (['chapter-preserve-theorem-3-1'], 'chapter-preserve-theorem-3-1')
    """
    sections = list(document.findall(nodes.section))
    for place in map(nodes.make_id, claims):
        other = f"chapter-{place}"
        for section in sections:
            if place not in section["ids"]:
                continue
            section["ids"] = [other if name == place else name for name in section["ids"]]
            document.ids.pop(place, None)
            document.ids[other] = section
            for name, kept in document.nameids.items():
                if kept == place:
                    document.nameids[name] = other
            for target in document.findall(nodes.target):
                if target.get("refid") == place:
                    target["refid"] = other


def box(node: nodes.Element, ruling: Mapping[str, Any] | None, *, folded: bool) -> nodes.Element:
    """The box of a statement that a ``prf:`` or a ``{claim}`` directive has made.

    Examples
    --------
    >>> said = nodes.container("", nodes.paragraph("", "It is so."))
    >>> node = nodes.admonition("", nodes.title("", "A bound"), said, ids=["bound"])
    >>> node["realtype"] = "lemma"
    >>> made = box(node, None, folded=False)
    >>> made["ids"], "Lemma" in made.astext(), "It is so." in made.astext()
    (['bound'], True, True)
    """
    claim = node.get("states", "")
    kind = node.get("realtype", "")
    name, body, source, line = _pieces(node)
    colour = tone(claim, ruling["verdict"]) if ruling else ("ours" if kind in PROVED else "plain")
    if claim and not ruling:
        colour = "plain"
    label = "".join(part.astext() for part in name)
    printed = bool(claim) and kind_of(claim) != "new"  # its title is the paper's name for it
    bar: list[nodes.Node] = []
    if kind and not (name and (printed or _NUMBERED.match(label))):
        bar.append(element("span", nodes.Text(kind.title()), classes=["box-kind"]))
    bar += [element("span", *name, classes=["box-name"])] if name else []
    if claim:
        bar.append(element("span", *badge_nodes(ruling, claim), classes=["box-badge"]))
    if colour == "ours":
        proved = nodes.inline("", "proved here", classes=["verdict", "verdict-tag"])
        bar.append(proved)
    ids = [claim, nodes.make_id(claim)] if claim else list(node["ids"])
    link = element(
        "a", nodes.Text("¶"), classes=["box-link"], href=f"#{ids[0]}", title=claim or ids[0],
        aria_label=f"Link to {label or kind.title()}",
    )  # fmt: skip
    classes = ["lowdim-box", "proof", f"box-{colour}", *([f"box-of-{kind}"] if kind else [])]
    if folded and line:
        bar.append(element("span", *line.children, classes=["box-says"]))
        inner = [*([] if line["whole"] else body), *source]
        made = element("div", classes=[*classes, "box-folded"])
        summary = element("summary", *bar, classes=["box-title"])
        made += element("details", summary, element("div", *inner, classes=["box-body"]))
        made += link
    else:
        made = element("div", classes=classes)
        made += element("p", *bar, link, classes=["box-title"])
        made += element("div", *body, *source, classes=["box-body"])
    made["ids"] = ids
    made.source, made.line = node.source, node.line
    return made


def _pieces(
    node: nodes.Element,
) -> tuple[Sequence[nodes.Node], list[nodes.Node], list[nodes.Node], says | None]:
    """Name, statement, source and line of what a directive has made."""
    children = list(node.children)
    line = next((child for child in children if isinstance(child, says)), None)
    source = [c for c in children if "lowdim-source" in c.get("classes", ())]  # type: ignore[attr-defined]
    for paragraph in source:
        _without_badge(cast(nodes.Element, paragraph))
    rest = [c for c in children if c is not line and c not in source]
    if isinstance(rest[0], nodes.title):
        return rest[0].children, [*rest[1].children, *rest[2:]], source, line
    first = cast(nodes.Element, rest[0])
    first.remove(first[0])  # the name, in bold
    name = [nodes.Text(claim_name(node["states"]))]
    return name, rest if first.children else rest[1:], source, line


def _without_badge(paragraph: nodes.Element) -> None:
    """It stands in the title bar, and the paragraph begins with its first word."""
    while paragraph.children and not isinstance(paragraph[0], nodes.Text):
        paragraph.remove(paragraph[0])
    if paragraph.children:
        paragraph.replace(paragraph[0], nodes.Text(paragraph[0].astext().lstrip()))
