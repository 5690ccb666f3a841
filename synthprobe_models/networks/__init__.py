"""Networks that take a structure in, and whole networks of the registry."""
