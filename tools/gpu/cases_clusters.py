"""Cases of tests/kernels/clusters.tile and cluster_sums.tile: what blocks copy and add up together; of split_turns.tile: whose turns they share; of nested_pipelines.tile: turns that go on from
round to round."""
import torch

from cases_movement import whole
from tensors import DEVICE, F64, poisoned

PRODUCTS = [dict(M=m, N=n, K=k) for m, n, k in
            [(1, 1, 1), (130, 104, 72), (128, 256, 328), (256, 512, 64), (512, 768, 1000), (200, 40, 8), (1024, 384, 136), (384, 1536, 4104)]]
HEADS = [dict(shape, H=h) for shape, h in zip(PRODUCTS, (1, 2, 3, 5, 2, 9, 1, 4))]
BATCHES = [dict(shape, Z=z) for shape, z in zip(PRODUCTS, (1, 2, 3, 4, 2, 6, 1, 2))]
SUMS = [dict(M=m, N=n, Z=z) for m, n, z in
        [(1, 1, 1), (130, 72, 4), (128, 260, 8), (200, 5, 3), (256, 512, 16), (1000, 1024, 2), (64, 255, 24), (513, 1000, 8)]]


def product(name, dims):
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b = whole((m, k), torch.float16), whole((k, n), torch.float16)
    return dict(dims, A=a, B=b, C=poisoned((m, n), torch.float32)), {"C": lambda: a.to(F64) @ b.to(F64)}


def batched(name, dims):
    m, n, k, z = dims["M"], dims["N"], dims["K"], dims["Z"]
    a, b = whole((z, m, k), torch.float16), whole((k, n), torch.float16)
    return dict(dims, A=a, B=b, C=poisoned((z, m, n), torch.float32)), {"C": lambda: a.to(F64) @ b.to(F64)}


def grouped(name, dims):
    """Matrix z takes as many of its columns as whole turns of its own step cover."""
    m, n, k, z = dims["M"], dims["N"], dims["K"], dims["Z"]
    a, b = whole((m, k), torch.float16), whole((z, k, n), torch.float16)

    def reference():
        ends = [min(k, 32 * -(-k // (32 * (i + 1)))) for i in range(z)]
        return torch.stack([a[:, :end].to(F64) @ b[i, :end].to(F64) for i, end in enumerate(ends)])

    return dict(dims, A=a, B=b, C=poisoned((z, m, n), torch.float32)), {"C": reference}


def nested(name, dims):
    """Rounds of triangles: odd ones have no turn, the others as many as their number and that of the block's rows."""
    m, n, k, h = dims["M"], dims["N"], dims["K"], dims["H"]
    a, b = whole((h, m, k), torch.float16), whole((h, k, n), torch.float16)

    def reference():
        if name != "of_triangles":
            return (3 if name == "of_pairs" else 1) * (a.to(F64) @ b.to(F64))
        out = torch.zeros((h, m, n), device=DEVICE, dtype=F64)
        for i in range(0, m, 64):
            for round in range(0, h, 2):
                end = 32 * (round + i // 64)
                out[round, i : i + 64] = a[round, i : i + 64, :end].to(F64) @ b[round, :end].to(F64)
        return out

    return dict(dims, A=a, B=b, C=poisoned((h, m, n), torch.float32)), {"C": reference}


def shares(name, dims):
    """Whole numbers, whose sums are exact however their turns are shared; some blocks have none."""
    values, wanted = product(name, dims)
    return dict(values, C=poisoned(values["C"].shape, torch.float16)), wanted


def shares_affine(name, dims):
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b, x = whole((m, k), torch.float16), whole((n, k), torch.float16), whole((m, n), torch.float16)
    rows, columns = whole((m,), torch.float32), whole((n,), torch.float32)
    values = dict(dims, A=a, B=b, X=x, Rows=rows, Columns=columns, C=poisoned((m, n), torch.float32), Squares=poisoned(((n + 63) // 64, m), torch.float32))

    def sums():
        return x.to(F64) + a.to(F64) @ b.to(F64).T

    def squares():
        wide = torch.zeros((m, (n + 63) // 64 * 64), device=DEVICE, dtype=F64)
        wide[:, :n] = sums() ** 2
        return wide.reshape(m, -1, 64).sum(2).T

    return values, {"C": lambda: (sums() * rows.to(F64)[:, None] + columns.to(F64)).clamp(min=0), "Squares": squares}


def shares_gated(name, dims):
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b, d, s = whole((m, k), torch.float16), whole((k, n), torch.float16), whole((k, n), torch.float16), whole((k,), torch.float32)

    def reference():
        each = torch.zeros(k, device=DEVICE, dtype=F64)
        for turn in range(-(-k // 32)):
            each[32 * turn : 32 * turn + 32] = s[turn].to(F64)
        return (a.to(F64) @ b.to(F64)) * ((a.to(F64) * each) @ d.to(F64))

    return dict(dims, A=a, B=b, D=d, S=s, C=poisoned((m, n), torch.float32)), {"C": reference}


def again(name, dims):
    x, y = whole((dims["M"], dims["N"]), torch.float16), whole((dims["Z"], 32), torch.float32)
    values = dict(dims, X=x, Y=y, S=poisoned((dims["M"],), torch.float32), T=poisoned((8,), torch.float32))
    rows = torch.arange(dims["Z"], device=DEVICE) % 8
    return values, {"S": lambda: x.to(F64).sum(1), "T": lambda: 6 * torch.zeros(8, device=DEVICE, dtype=F64).index_add(0, rows, y.to(F64).sum(1))}


def column_sums(name, dims):
    a = whole((dims["M"], dims["N"]), torch.float32)
    return dict(dims, A=a, sums=torch.zeros(dims["N"], device=DEVICE)), {"sums": lambda: a.to(F64).sum(0)}


def own_sums(name, dims):
    a = whole((dims["M"], dims["N"]), torch.float32)
    return dict(dims, A=a, sums=torch.zeros_like(a)), {"sums": lambda: a.to(F64)}


def matrix_sums(name, dims):
    a = whole((dims["Z"], dims["M"], dims["N"]), torch.float32)
    factor = 2 if name.startswith("matrix_sums") else 1
    return dict(dims, A=a, sums=torch.zeros(a.shape[1:], device=DEVICE)), {"sums": lambda: factor * a.to(F64).sum(0)}


CASES = {name: (product, PRODUCTS) for name in ("shared_columns", "shared_both", "scheduled", "panels")} | {
    "batched": (batched, BATCHES),
    "grouped": (grouped, BATCHES),
    "of_heads": (nested, HEADS),
    "of_triangles": (nested, HEADS),
    "of_pairs": (nested, HEADS),
    "shares": (shares, PRODUCTS),
    "shares_affine": (shares_affine, PRODUCTS),
    "shares_gated": (shares_gated, PRODUCTS),
    "again": (again, SUMS),
    "column_sums": (column_sums, SUMS),
    "own_sums": (own_sums, SUMS),
    "matrix_sums": (matrix_sums, SUMS),
    "paired_sums": (matrix_sums, SUMS),
}
ZEROED = {"column_sums", "own_sums", "matrix_sums", "paired_sums"}  # kernels add to what is there
