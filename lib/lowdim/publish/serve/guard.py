"""Who may ask: whoever has the token, on this machine, from a page of ours.

Other programs' pages in the same browser can send requests here, and a name of theirs can be made
to mean 127.0.0.1. So a request must name this host, carry the cookie that the printed address has
set, and, where it changes anything, come from a page of this origin and be JSON.
"""

from __future__ import annotations

import hmac
import secrets

HOSTS = ("127.0.0.1", "localhost")


def new_token() -> str:
    """A token that nobody guesses.

    Examples
    --------
    >>> len(new_token()) >= 32 and new_token() != new_token()
    True
    """
    return secrets.token_urlsafe(32)


def same(given: str | None, token: str) -> bool:
    """Whether a token is the right one, in a time that does not depend on it.

    Examples
    --------
    >>> same("a", "a"), same("b", "a"), same(None, "a"), same("ä", "a")
    (True, False, False, False)
    """
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


def cookie(port: int) -> str:
    """The name of the cookie: browsers do not tell ports apart, so the name does.

    Examples
    --------
    >>> cookie(8000)
    'lowdim-8000'
    """
    return f"lowdim-{port}"


def is_host(host: str | None, port: int) -> bool:
    """Whether the header ``Host`` names this server.

    Examples
    --------
    >>> [is_host(host, 8000) for host in ("127.0.0.1:8000", "localhost:8000")]
    [True, True]
    >>> [is_host(host, 8000) for host in ("evil.example:8000", "127.0.0.1", "127.0.0.1:1", None)]
    [False, False, False, False]
    """
    return host in {f"{name}:{port}" for name in HOSTS}


def is_origin(origin: str | None, port: int) -> bool:
    """Whether the header ``Origin`` is that of a page of ours; a request without one is refused.

    Examples
    --------
    >>> is_origin("http://127.0.0.1:8000", 8000), is_origin("http://127.0.0.1:8001", 8000)
    (True, False)
    >>> is_origin("null", 8000), is_origin(None, 8000)
    (False, False)
    """
    return origin in {f"http://{name}:{port}" for name in HOSTS}
