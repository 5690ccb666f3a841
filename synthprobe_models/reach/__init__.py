"""What a network makes of twins: its accuracy by the distance from the difference."""
