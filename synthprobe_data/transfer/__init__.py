"""Folders of shards to and from other machines: the Hugging Face Hub, and any web server."""
