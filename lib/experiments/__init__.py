"""What one chapter runs: experiments, and mistakes kept to be looked at. Nothing else builds on them."""
