"""Structures, one file each; importing this package puts all of them into the registry."""
