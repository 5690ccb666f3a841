"""Scores of any prediction: of files, functions, foreign networks and our own."""
