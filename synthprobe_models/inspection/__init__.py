"""What can be said of a structure without training it."""
