"""Dims of the rows of tables, and the formulas in heads of kernels' texts over them. Needs no GPU."""
import math


def product_dims(shape):
    """(M, N, K) by name."""
    return dict(zip("MNK", shape))


def sequences(length, depth):
    """Of attention: 16384 tokens in all, fewer sequences where they are longer, heads of `depth` that fill 2048 columns."""
    heads, tokens = 2048 // depth, 16384
    return dict(B=tokens // length, H=heads, G=heads, S=length, L=length, window=1)


def clocks_of(formula, dims):
    """That a launch is expected to take."""
    return eval(formula, {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}, dims)
