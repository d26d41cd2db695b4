"""The verbs of a sandbox's console, by noun."""
