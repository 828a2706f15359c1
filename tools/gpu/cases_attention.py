"""Data and references of attention in its forms."""
CASES = {}


def timings(beside):
    pass
