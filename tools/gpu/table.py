"""The table of docs/performance.md: kernels beside the libraries that are hardest to beat, each pair in one process.

    tools/gpu/build FOLDER sm_90a, anywhere; then, where the GPU is: python3 FOLDER/table.py FOLDER [WORD...]

Rows whose name holds one of the words, or all. A line gives both times (medians of interleaved samples, random data), the ratio
reference / own, the error against float64, ||out - exact|| / ||exact||, and how far off the compiler's expectation is: expected / measured.
Rows of the group `tilelang` need FOLDER/tl, from tilelang_build.py.
"""
import math
import pathlib
import sys

import torch

import cases_attention
import check
import peer_tilelang
from shapes import product_dims, sequences
from tensors import DEVICE

LARGE = [(4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 1024), (4096, 11008, 4096), (8192, 28672, 8192)]
SMALL = [(n, n, n) for n in (512, 1024, 2048)]
SKINNY = [(m, n, k) for n, k in ((8192, 8192), (7168, 2048)) for m in (1, 8, 16, 64, 128)]
GIGAHERTZ = 1.7  # as the compiler's machine has it


def product(v):
    return torch.mm(v["A"], v["B"])


def turned_product(v):
    return torch.mm(v["A"], v["B"].T)


def scaled_product(v):
    return torch._scaled_mm(v["A"], v["B"].T, v["scale_a"][0], v["scale_b"][0], out_dtype=torch.bfloat16)


def copied(name):
    """Of an input, to where no result lies."""
    def copy(v):
        v.setdefault("copy", torch.empty_like(v[name])).copy_(v[name])

    return copy


def fused(is_causal):
    def attend(v):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(v["Q"], v["K"], v["V"], is_causal=is_causal)

    return attend


def rows(folder):
    """(group, export, dims, reference)."""
    for t in ("f16", "bf16"):
        for shape in LARGE:
            yield "gemm large", f"gemm_nn_{t}", product_dims(shape), product
            yield "gemm large", f"gemm_nt_{t}", product_dims(shape), turned_product
    for shape in SMALL:
        yield "gemm small", "gemm_nn_f16", product_dims(shape), product
    for shape in ((4097, 4095, 4104), (4097, 4095, 4099), (3000, 5000, 7000), (127, 129, 1048)):
        yield "gemm odd", "gemm_nn_f16", product_dims(shape), product
    for shape in SKINNY:
        yield "gemm skinny", "gemm_nt_f16", product_dims(shape), turned_product
    for n in (4096, 8192):
        yield "fp8", "gemm_fp8_bf16", product_dims((n, n, n)), scaled_product
    for depth, full, causal in ((64, "attention_d64_f16", "attention_causal_d64_f16"), (128, "attention_f16", "attention_causal_f16")):
        for length in (1024, 4096, 16384):
            group = "attention" if length > 1024 else "attention 1k"
            yield group, full, sequences(length, depth), fused(False)
            yield group, causal, sequences(length, depth), fused(True)
    for length in (1024, 4096, 16384):
        yield "attention d256", "attention_d256_f16", sequences(length, 256), fused(False)
    for length in (4096, 16384):
        for depth, name in ((64, "attention_backward_f16"), (128, "attention_backward_d128_bf16")):
            dims = sequences(length, depth)
            yield "attention backward", name, dims | {"B": 1} if length == 16384 else dims, cases_attention.backward
    # Beside a copy of the same bytes.
    for name in ("softmax_long_bf16", "rms_norm_long_bf16", "layer_norm_long_bf16"):
        yield "rows", name, dict(M=16384, N=8192), copied("X")
    for name in ("transpose_f32", "transpose_f16"):
        yield "rows", name, dict(M=8192, N=8192), copied("A")
    # Last: an image of others may take the context with it.
    yield from peer_tilelang.rows(folder / "tl")


def measure(kernels, name, dims, reference):
    """(own, other, error, faults, what else there is to tell)."""
    if isinstance(reference, peer_tilelang.Peer):
        return reference.measure(kernels, name, dims)
    values, wanted = check.CASES[check.case_of(name)][0](name, dims)
    fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)
    own, other = check.medians_ms([lambda: [k.launch(values, fault) for k in kernels], lambda: reference(values)])
    # Scores of long sequences fill the memory in float64.
    is_judged = dims.get("S", 0) <= 4096
    errors = [check.error(values[key], exact()) for key, exact in wanted.items()] if is_judged else [math.nan]
    return own, other, max(errors), bool(fault.item()), ""


def is_lost():
    """Whether an error stays with the context."""
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def main():
    folder, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
    torch.manual_seed(1)
    torch.zeros(1, device=DEVICE)
    exports = {}
    for path in sorted(folder.glob("*.sm_90a.ptx")):
        if not path.name.startswith("launcher."):
            exports |= check.load(path)
    groups = {}
    for group, name, dims, reference in rows(folder):
        if name not in exports or (words and not any(word in f"{group} {name}" for word in words)):
            continue
        torch.cuda.empty_cache()
        kernels = check.instance_for(exports[name], dims)
        try:
            own, other, error, has_fault, note = measure(kernels, name, dims, reference)
        except torch.OutOfMemoryError:
            print(f"{group}: {name} {dims}: not enough memory", flush=True)
            continue
        except RuntimeError as problem:
            print(f"{group}: {name} {dims}: {problem}", flush=True)
            if is_lost():
                break
            continue
        groups.setdefault(group, []).append(other / own)
        expected = check.expected_clocks(kernels, dims)
        foreseen = f", expected {expected / GIGAHERTZ / 1e6 / own:.2f} of it" if expected else ""
        sizes = " ".join(f"{key}={value}" for key, value in dims.items() if key != "window")
        print(f"{group}: {name} {sizes}: {own:.4f} ms, reference {other:.4f} ms, ratio {other / own:.3f}, error {error:.1e}{foreseen}{note}{' FAULT' if has_fault else ''}", flush=True)
    for group, ratios in groups.items():
        print(f"== {group}: {len(ratios)} rows, geometric mean {math.prod(ratios) ** (1 / len(ratios)):.3f}, least {min(ratios):.3f}")


if __name__ == "__main__":
    main()
