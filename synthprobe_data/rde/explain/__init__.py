"""Seeing a sample: a figure that explains it, and a page to look through many."""
