"""lowdim: linear algebra, training and bookkeeping behind *Low Dimensions, Deep Networks*.

Its rooms, each of which imports only those after it:

- ``publish``: chapters into runs, records and pages; the command line;
- ``preserve``, ``collapse``, ``embedded``, ``hashing``: what one part of the book alone needs;
- ``nets``: architectures with a leading axis of trials, and one way to train them;
- ``evidence``: claims, attacks, ladders, verdicts, tables, plots;
  ``linalg``: row spaces, projectors, clusters, ranks; ``data``: unions, manifolds, images;
- ``checks``, ``seeds``: refusals in one sentence, generators from a seed.

Nothing heavy is imported until a module is asked for.

>>> import lowdim
>>> lowdim.__version__.startswith("0.")
True
"""

__version__ = "0.2.0.dev0"
