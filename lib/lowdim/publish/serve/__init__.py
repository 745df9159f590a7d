"""The book on this machine, with a panel on every chapter that runs it: `lowdim serve`.

:mod:`~lowdim.publish.serve.runs` keeps what was run, :mod:`~lowdim.publish.serve.one` makes one run
in a process of its own, :mod:`~lowdim.publish.serve.desk` makes them one after the other,
:mod:`~lowdim.publish.serve.panel` is what a page needs to ask for one,
:mod:`~lowdim.publish.serve.guard` decides who may ask, and :mod:`~lowdim.publish.serve.app` puts
them behind addresses.
"""
