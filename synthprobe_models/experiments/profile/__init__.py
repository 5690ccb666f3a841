"""Profiles: which abilities a structure has."""
