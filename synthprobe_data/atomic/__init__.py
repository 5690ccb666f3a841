"""Writing so that a file or a folder has its name only when it is complete."""
