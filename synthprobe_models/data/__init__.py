"""Samples for networks: from files, from folders of shards, or from the stream."""
