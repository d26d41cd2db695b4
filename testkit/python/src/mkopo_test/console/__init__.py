"""What the console of a sandbox can do, by noun."""
