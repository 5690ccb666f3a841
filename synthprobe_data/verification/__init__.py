"""Checking that a dataset is what it says: hashes, rows, rules and pixels."""
