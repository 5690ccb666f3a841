"""Looking at a dataset on disk: its facts, and a contact sheet."""
