"""Many runs of one chapter: planned, made by warm workers, kept so that none is lost or made twice.

:mod:`~lowdim.publish.sweeps.plan` turns a request into runs, :mod:`~lowdim.publish.sweeps.warm`
makes one of them in a forked process, :mod:`~lowdim.publish.sweeps.shelf` keeps what came out,
:mod:`~lowdim.publish.sweeps.pools` has the workers of this machine and
:mod:`~lowdim.publish.sweeps.clusters` those of a Dask cluster,
:mod:`~lowdim.publish.sweeps.coordinator` hands runs to them and
:mod:`~lowdim.publish.sweeps.results` writes the table and the page.
"""
