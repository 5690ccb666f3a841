"""What a network makes of the cues of RDE."""
