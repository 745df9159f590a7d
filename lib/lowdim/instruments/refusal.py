"""What is said, in one sentence, where nothing can be measured."""

from __future__ import annotations


class Unmeasurable(ValueError):
    """A model, data or an option that cannot be measured; the message is one sentence.

    Examples
    --------
    >>> issubclass(Unmeasurable, ValueError)
    True
    """
