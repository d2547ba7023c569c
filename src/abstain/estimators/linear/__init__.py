"""The linear and low-rank machines, in memory and on Dask."""
