"""Data and references of products: layouts of operands, skinny ones, groups, scales."""
import torch

from tensors import F64, data, element, poisoned

PRODUCTS = [dict(M=m, N=n, K=k) for m, n, k in [(1, 1, 1), (33, 129, 65), (130, 7, 100), (64, 64, 64), (5, 7, 0), (257, 255, 383),
                                                (512, 384, 1024), (1000, 1001, 999), (1024, 1024, 1024)]]


def layouts_case(name, dims):
    """gemm_nt_f16 and the like: a letter for each operand, `t` for one that lies turned."""
    t = element(name)
    turned_a, turned_b = (letter == "t" for letter in name.split("_")[1])
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b = data((k, m) if turned_a else (m, k), t), data((n, k) if turned_b else (k, n), t)
    left, right = a.T if turned_a else a, b.T if turned_b else b
    return dict(dims, A=a, B=b, C=poisoned((m, n), t)), {"C": lambda: left.to(F64) @ right.to(F64)}


CASES = {
    **{f"gemm_{form}": (layouts_case, PRODUCTS) for form in ("nn", "nt", "tn", "tt")},
}


def timings(beside):
    dims = dict(M=4096, N=4096, K=4096)
    beside("gemm_nn_f16", dims, lambda v: torch.mm(v["A"], v["B"]))
    beside("gemm_nt_f16", dims, lambda v: torch.mm(v["A"], v["B"].T))
    beside("gemm_tn_f16", dims, lambda v: torch.mm(v["A"].T, v["B"]))
    beside("gemm_tt_f16", dims, lambda v: torch.mm(v["A"].T, v["B"].T))
