"""What several runs of one kind say together: intervals, sure sentences, and comparisons."""
