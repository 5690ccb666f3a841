"""The commands of the data side, ``synthprobe-gen`` and ``synthprobe-shards``."""
