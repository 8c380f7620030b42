"""Runs tasks on the workers of Dask or MPI, in processes or on machines that share a folder."""
