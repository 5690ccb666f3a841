"""From one dataset on disk to another: merge, split, export."""
