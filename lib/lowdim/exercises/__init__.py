"""Checkers of the book's exercises: each says in one sentence which property an answer lacks.

A checker is given what the reader wrote, a function as a rule, and calls it on cases of its own. It
needs no chapter to be run, it uses nothing of one, and what it says never holds the answer. One
module a part; :mod:`lowdim.exercises.checking` has what they are made of.
"""

from lowdim.exercises.checking import Wrong, checker, outcome, wants

__all__ = ["Wrong", "checker", "outcome", "wants"]
