"""Runs: from settings to a finished file or folder of shards."""
