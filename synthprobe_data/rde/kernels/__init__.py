"""The compiled steps of a scene, each with a plain twin in `rde/reference.py`."""
