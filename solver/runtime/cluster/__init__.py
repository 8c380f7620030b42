"""Runs tasks on the workers of Dask or MPI, in processes or on machines that share a folder.

    solve --> ClusterExecutor.submit --> (site, packed task) --> worker: check the site, unpack, run --> result

`executor.py` is the base, `dask.py` and `mpi.py` the two kinds. The *site* (`site.py`) says what workers must have in
common with the solve. Large data go through files: parcels (`runtime/parcels.py`) and sheets (`sheets.py`).
"""
