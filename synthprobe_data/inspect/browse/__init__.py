"""A page to look through samples."""
