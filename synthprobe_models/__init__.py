"""The model side of synthprobe, which knows of the generator only the shards that it reads.

PyTorch, which it needs, comes with the extra ``models``.
"""
