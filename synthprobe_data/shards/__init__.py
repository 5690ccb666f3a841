"""The shard format: HDF5 files that any HDF5 library can read."""
