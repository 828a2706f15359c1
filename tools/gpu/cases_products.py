"""Data and references of products: layouts of operands, skinny ones, groups, scales."""
import torch

from tensors import DEVICE, F64, data, element, multiplied, poisoned

PRODUCTS = [dict(M=m, N=n, K=k) for m, n, k in [(1, 1, 1), (33, 129, 65), (130, 7, 100), (64, 64, 64), (5, 7, 0), (257, 255, 383),
                                                (512, 384, 1024), (1000, 1001, 999), (1024, 1024, 1024)]]


def layouts_case(name, dims):
    """gemm_nt_f16 and the like: a letter for each operand, `t` for one that lies turned."""
    t = element(name)
    turned_a, turned_b = (letter == "t" for letter in name.split("_")[1])
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b = data((k, m) if turned_a else (m, k), t), data((n, k) if turned_b else (k, n), t)
    left, right = (x.T if is_turned else x for x, is_turned in ((multiplied(name, a), turned_a), (multiplied(name, b), turned_b)))
    return dict(dims, A=a, B=b, C=poisoned((m, n), t)), {"C": lambda: left.to(F64) @ right.to(F64)}


def vector_case(name, dims):
    t = element(name)
    a, x = data((dims["M"], dims["K"]), t), data((dims["K"],), t)
    return dict(dims, A=a, x=x, y=poisoned((dims["M"],), t)), {"y": lambda: a.to(F64) @ x.to(F64)}


def skinny_case(name, dims):
    t = element(name)
    x, w = data((dims["M"], dims["K"]), t), data((dims["N"], dims["K"]), t)
    return dict(dims, X=x, W=w, Y=poisoned((dims["M"], dims["N"]), t)), {"Y": lambda: x.to(F64) @ w.to(F64).T}


def grouped_case(name, dims):
    t = element(name)
    m, n, k, groups = (dims[key] for key in "MNKG")
    a, b, c = data((m, k), t), data((groups, k, n), t), poisoned((m, n), t)
    cuts = torch.randint(0, m + 1, (groups - 1,)).sort()[0].tolist() if groups else []
    offsets = [0, *cuts, m][: groups + 1]
    values = dict(dims, A=a, B=b, offsets=torch.tensor(offsets, device=DEVICE, dtype=torch.int32), C=c)

    def reference():
        parts = [a[lo:hi].to(F64) @ b[g].to(F64) for g, (lo, hi) in enumerate(zip(offsets, offsets[1:]))]
        return torch.cat(parts)

    return values, {"C": reference}


def spread(scales, extents, parts):
    """A scale for each element: one stands for `parts` rows and columns."""
    for axis, part in enumerate(parts):
        scales = scales.to(F64).repeat_interleave(part, dim=axis).narrow(axis, 0, extents[axis])
    return scales


def scaled_case(name, dims):
    result, operand = element(name), torch.int8 if "_i8_" in name else torch.float8_e4m3fn
    m, n, k = dims["M"], dims["N"], dims["K"]
    a, b = data((m, k), operand), data((n, k), operand)
    scale = 1e-3 if operand == torch.int8 else 0.25  # f16 ends at 65504
    if "blocks" in name:
        scales_a, scales_b = data((m, (k + 127) // 128), torch.float32) * scale, data(((n + 127) // 128, (k + 127) // 128), torch.float32)
        wide_a, wide_b = spread(scales_a, (m, k), (1, 128)), spread(scales_b, (n, k), (128, 128))
        scales = {"scales_a": scales_a, "scales_b": scales_b}
    elif operand == torch.int8:
        scales_a, scales_b = data((m,), torch.float32) * scale, data((n,), torch.float32)
        wide_a, wide_b = scales_a.to(F64)[:, None], scales_b.to(F64)[:, None]
        scales = {"scales_a": scales_a, "scales_b": scales_b}
    else:
        scales_a, scales_b = data((1,), torch.float32) * scale, data((1,), torch.float32)
        wide_a, wide_b = scales_a.to(F64), scales_b.to(F64)
        scales = {"scale_a": scales_a, "scale_b": scales_b}
    values = dict(dims, A=a, B=b, C=poisoned((m, n), result), **scales)
    return values, {"C": lambda: (a.to(F64) * wide_a) @ (b.to(F64) * wide_b).T}


CASES = {
    "gemv": (vector_case, [dict(M=m, K=k) for m, k in [(1, 1), (257, 4097), (1000, 512), (7, 100003), (33, 65), (129, 1), (511, 1023), (5, 0), (0, 9),
                                                       (4096, 4096)]]),
    "skinny_gemm": (skinny_case, [dict(M=m, N=n, K=k) for m, n, k in [(1, 1, 1), (3, 65, 1025), (16, 512, 768), (15, 33, 129), (7, 1, 255), (9, 127, 65),
                                                                      (5, 7, 0), (0, 3, 9), (1, 4096, 4096), (13, 1001, 3999)]]),
    "grouped_gemm": (grouped_case, [dict(M=m, N=n, K=k, G=g) for m, n, k, g in
                                    [(1, 1, 1, 1), (33, 257, 129, 3), (257, 33, 65, 9), (128, 128, 64, 2), (5, 129, 33, 7), (65, 31, 7, 5), (7, 9, 0, 3),
                                     (0, 3, 9, 5), (1025, 513, 511, 31), (4096, 1024, 512, 8)]]),
    **{f"gemm_{form}": (scaled_case, PRODUCTS) for form in ("fp8", "i8")},
    **{f"gemm_{form}": (layouts_case, PRODUCTS) for form in ("nn", "nt", "tn", "tt")},
}


def timings(beside):
    dims = dict(M=4096, N=4096, K=4096)
    beside("gemm_nn_f16", dims, lambda v: torch.mm(v["A"], v["B"]))
    beside("gemm_nt_f16", dims, lambda v: torch.mm(v["A"], v["B"].T))
    beside("gemm_tn_f16", dims, lambda v: torch.mm(v["A"].T, v["B"]))
    beside("gemm_tt_f16", dims, lambda v: torch.mm(v["A"].T, v["B"].T))
    torch.backends.cuda.matmul.allow_tf32 = True
    beside("gemm_nt_tf32", dims, lambda v: torch.mm(v["A"], v["B"].T))
    beside("gemm_relu_tf32", dims, lambda v: torch.mm(v["A"], v["B"]))
    beside("gemm_relu_rounded_tf32", dims, lambda v: torch.mm(v["A"], v["B"]))
    torch.backends.cuda.matmul.allow_tf32 = False
    beside("gemv_f16", dict(M=16384, K=8192), lambda v: torch.mv(v["A"], v["x"]))
    beside("gemv_f32", dict(M=16384, K=8192), lambda v: torch.mv(v["A"], v["x"]))
    for m in (1, 16):
        beside("skinny_gemm_f16", dict(M=m, N=8192, K=8192), lambda v: torch.mm(v["X"], v["W"].T))
    beside("grouped_gemm_f16", dict(M=8192, N=4096, K=4096, G=8), lambda v: [torch.mm(v["A"][i * 1024:(i + 1) * 1024], v["B"][i]) for i in range(8)])
    wide = dict(M=8192, N=8192, K=8192)
    beside("gemm_fp8_bf16", wide, lambda v: torch._scaled_mm(v["A"], v["B"].T, v["scale_a"][0], v["scale_b"][0], out_dtype=torch.bfloat16))
    # Beside the same without scales of blocks.
    one = torch.ones((), device=DEVICE)
    beside("gemm_fp8_blocks_bf16", wide, lambda v: torch._scaled_mm(v["A"], v["B"].T, one, one, out_dtype=torch.bfloat16))
    beside("gemm_i8_f16", wide, lambda v: torch._int_mm(v["A"], v["B"].T))
