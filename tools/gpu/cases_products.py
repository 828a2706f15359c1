"""Data and references of products: layouts of operands, skinny ones, groups, scales."""
CASES = {}
