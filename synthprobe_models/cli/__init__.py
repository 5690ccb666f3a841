"""The command ``synthprobe-probe``."""
