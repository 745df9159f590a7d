"""Values of one's own for every student: seeds from the key of the course and a name.

A seed is an HMAC of the key with the assignment, the student and a purpose. Whoever has no key can
neither guess another's values nor the hidden inputs; whoever has it computes both again, so nothing
is kept between handing out and grading.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from pathlib import Path

import numpy as np

LEAST = 16  # characters of a key
LONGEST = 120  # of a name


class CourseError(ValueError):
    """One sentence for the lecturer; the command line prints it and returns 2."""


def new_key() -> str:
    """A key for a course, 64 hexadecimal digits.

    Examples
    --------
    >>> len(new_key()), new_key() == new_key()
    (64, False)
    """
    return secrets.token_hex(32)


def read_key(path: Path) -> bytes:
    """The key in a file, without white space around it.

    Raises
    ------
    CourseError
        If there is no such file, or fewer than 16 characters in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "key")
    ...     _ = file.write_text("0123456789abcdef\\n")
    ...     read_key(file)
    b'0123456789abcdef'
    """
    try:
        key = path.read_bytes().strip()
    except OSError:
        raise CourseError(
            f"There is no course key in {path}; 'lowdim course key {path}' writes one."
        ) from None
    if len(key) < LEAST:
        raise CourseError(
            f"The course key in {path} has {len(key)} characters, and needs {LEAST} or more; "
            "'lowdim course key FILE' writes one."
        )
    return key


def identity(name: str) -> str:
    """A student's name in the one form that seeds are made from.

    Raises
    ------
    CourseError
        If it is empty or long, or has a path, a line break or another control character in it.

    Examples
    --------
    >>> identity(" Noe\\u0308l "), identity("a.b@c.org")
    ('Noël', 'a.b@c.org')
    """
    plain = unicodedata.normalize("NFC", name).strip()
    if not plain or len(plain) > LONGEST or plain.strip(".") == "":
        raise CourseError(
            f"A student's name needs 1 to {LONGEST} characters, not only dots; you gave {name!r}."
        )
    strange = [c for c in plain if c in "/\\" or unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    if strange:
        raise CourseError(
            f"A student's name has no slash and no invisible character; you gave {name!r}."
        )
    return plain


def seed(key: bytes, assignment: str, student: str, purpose: str) -> int:
    """The seed of one student for one purpose, a whole number below 2**128.

    Examples
    --------
    >>> a, b = (seed(b"0123456789abcdef", "one", name, "values") for name in ("Ada", "Kurt"))
    >>> a == b, a == seed(b"0123456789abcdef", "one", "Ada", "values")
    (False, True)
    """
    # lengths first: no two triples make the same text
    parts = [part.encode() for part in (assignment, identity(student), purpose)]
    text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return int.from_bytes(hmac.new(key, text, hashlib.sha256).digest()[:16], "big")


def generator(key: bytes, assignment: str, student: str, purpose: str) -> np.random.Generator:
    """The generator from that seed.

    Examples
    --------
    >>> generator(b"0123456789abcdef", "one", "Ada", "values").integers(10, size=3).shape
    (3,)
    """
    return np.random.default_rng(seed(key, assignment, student, purpose))
