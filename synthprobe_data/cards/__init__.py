"""The cards of a dataset: what it is, for people, for the Hugging Face Hub and as Croissant."""
