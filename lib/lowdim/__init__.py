"""lowdim: linear algebra, training and bookkeeping behind *Low Dimensions, Deep Networks*.

One module per idea; nothing heavy is imported until a module is asked for.

>>> import lowdim
>>> lowdim.__version__
'0.1.0'
"""

__version__ = "0.1.0"
