"""Tasks on the workers of Dask or of MPI, in processes or on machines that share a folder."""
