"""Cases of tests/kernels/movement.tile: what is stored and added by engines and by instructions of a whole warp."""
import torch

from tensors import DEVICE, F64, element, poisoned

SHAPES = [dict(M=m, N=n) for m, n in [(1, 1), (1, 8), (33, 72), (64, 128), (5, 7), (129, 136), (1000, 1024), (257, 255)]]


def whole(shape, dtype, low=-4, high=5):
    """Small whole numbers, whose sums are exact in every element and order."""
    return torch.randint(low, high, shape, device=DEVICE).to(dtype)


def stored(name, dims):
    m, n, t = dims["M"], dims["N"], torch.float32 if "rows" in name or "again" in name else element(name)
    a = whole((m, n), t)
    if "rows" in name:
        # 
        return dict(dims, A=a, B=poisoned((2, m, n), t)), {"B": lambda: torch.stack([a, 2 * a]).to(F64)}
    factor, plus = (1, 3) if "again" in name else (2, 0)
    return dict(dims, A=a, B=poisoned((m, n), t)), {"B": lambda: factor * a.to(F64) + plus}


def added(name, dims):
    """Two blocks add to each place, those of products once twice as much."""
    m, n = dims["M"], dims["N"]
    if name == "add_product":
        a, b = whole((m, 16), torch.float16), whole((16, n), torch.float16)
        return dict(dims, A=a, B=b, C=torch.zeros(m, n, device=DEVICE)), {"C": lambda: 2 * (a.to(F64) @ b.to(F64))}
    a = whole((m, n), element(name))
    return dict(dims, A=a, B=torch.zeros_like(a)), {"B": lambda: (4 if "box" in name else 2) * a.to(F64)}


def some(name, dims):
    m, n = dims["M"], dims["N"]
    a = whole((m, n), torch.float32)

    def b():
        sums = torch.where(a > 0, a, 0 * a).to(F64)
        sums[1:] += 1
        return sums

    return dict(dims, A=a, B=torch.zeros_like(a), C=torch.zeros(m, device=DEVICE)), {"B": b, "C": lambda: a.to(F64).sum(1)}


def where(name, dims):
    a = whole((dims["M"], dims["N"]), torch.float32)
    return dict(dims, A=a, B=torch.zeros(*a.shape, 8, device=DEVICE)), {"B": lambda: torch.nn.functional.one_hot(a.abs().long() % 8, 8).to(F64)}


def turned(name, dims):
    t, n = element(name), dims["N"]
    a, b, c = whole((32, 16), t, -1, 2), whole((16, 32), t, -1, 2), whole((32, n), t, -1, 2)
    return dict(dims, M=32, A=a, B=b, C=c, D=poisoned((32, n), torch.float32)), {"D": lambda: (a.to(F64) @ b.to(F64)).T @ c.to(F64)}


def read(name, dims):
    a = whole((dims["M"], dims["N"]), torch.float32)
    b, c = poisoned(a.shape, a.dtype), poisoned(a.shape, a.dtype)
    return dict(dims, A=a, B=b, C=c), {"B": lambda: a.to(F64) + 1, "C": lambda: 2 * a.to(F64)}


CASES = {"box_store": (stored, SHAPES), "stored_again": (stored, SHAPES), "add_tile": (added, SHAPES), "add_box": (added, SHAPES),
         "add_product": (added, SHAPES), "add_some": (some, SHAPES), "add_where": (where, SHAPES), "turned": (turned, SHAPES), "read_once": (read, SHAPES)}
