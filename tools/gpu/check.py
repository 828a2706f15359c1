#!/usr/bin/env python3
"""Checks and times the examples' kernels on this machine's GPU, beside float64 and PyTorch.

    check.py FOLDER [--quick] [--small]

--quick prints what fails; --small takes small shapes alone and times nothing, for slow tools that watch the run.

FOLDER holds NAME.MACHINE.ptx as `tools/gpu/build` makes them; beside one may lie NAME.MACHINE.cubin, which is taken in its
place. Outputs are poisoned before each run; five runs, three of them with tensors at odd addresses, must give the same bits. Needs
PyTorch and the driver, no toolkit. Prints a table; the exit code tells whether all agree.
"""
import ctypes
import math
import pathlib
import random
import re
import struct
import sys
import time

import torch

import cases_attention
import cases_clusters
import cases_movement
import cases_products
from boxes import Descriptors
from shapes import clocks_of
from tensors import DEVICE, F64, data, element, multiplied, poisoned

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {code} {(text.value or b'').decode()}")


class Kernel:
    """A launch of an export, as the comment at the head of the text describes it."""

    def __init__(self, line, module, begins_early):
        match = re.match(r"// (\S+): (\d+) threads; (\d+) bytes of shared memory; blocks (.*); slots ([^;]*)(?:; boxes ([^;]*))?(?:; clusters of ([\dx]+))?(; any number of blocks)?(, dealt out)?(?:; clocks (.*))?", line)
        self.name, self.threads, self.shared, self.begins_early = match[1], int(match[2]), int(match[3]), begins_early
        self.blocks = [b.replace("/", "//") for b in re.split(r", (?![^(]*\))", match[4])]
        self.slots = match[5].split(", ")
        self.boxes = [re.match(r"(\S+) (\S+) swizzle (\d+)(?: adds (\S+))?( packed)?", box).groups() for box in (match[6] or "").split(", ") if box]
        self.cluster = [int(n) for n in match[7].split("x")] if match[7] else []
        self.function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(self.function), module, self.name.encode())
        call("cuFuncSetAttribute", self.function, 8, self.shared)  # the most dynamic shared memory
        self.pack = ctypes.c_void_p()  # copies tensors for the engine
        if any(box[-1] for box in self.boxes):
            call("cuModuleGetFunction", ctypes.byref(self.pack), module, b"tile_pack")
        self.at_once = self.blocks_at_once() if match[8] else None
        self.is_dealt, self.clocks = bool(match[9]), match[10]  # that it is expected to take: a formula

    def blocks_at_once(self):
        """Like the launcher: as many as the device holds, in whole clusters."""
        each, processors, clusters = ctypes.c_int(), torch.cuda.get_device_properties(0).multi_processor_count, ctypes.c_int()
        call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(each), self.function, self.threads, ctypes.c_size_t(self.shared))
        cluster = math.prod(self.cluster)
        if cluster == 1:
            return each.value * processors
        attribute = ctypes.create_string_buffer(struct.pack("<i4x3i52x", 4, cluster, 1, 1), 72)
        config = struct.pack("<7I4xQQI4x", each.value * processors // cluster * cluster, 1, 1, self.threads, 1, 1, self.shared, 0, ctypes.addressof(attribute), 1)
        call("cuOccupancyMaxActiveClusters", ctypes.byref(clusters), self.function, config)
        return clusters.value * cluster

    def blocks_of_launch(self, blocks, cluster):
        """Like the launcher: where the last round is full by half, as many as need as many rounds, unless they are dealt out."""
        rounds = -(-blocks // self.at_once)
        if self.is_dealt or rounds < 2 or 2 * (rounds * self.at_once - blocks) > self.at_once:
            return min(blocks, self.at_once)
        even = -(-blocks // rounds)
        return -(-even // cluster) * cluster

    def launch(self, values, fault):
        numbers = {k: v for k, v in values.items() if isinstance(v, int)}
        extents = [eval(extent, {"min": min, "max": max}, numbers) for extent in self.blocks]
        if not math.prod(extents):
            return
        packed = []
        for slot in self.slots:
            v = values.get(slot, 0)
            if isinstance(v, torch.Tensor):
                v = v.data_ptr()
            elif isinstance(v, float):
                v = struct.unpack("<I", struct.pack("<f", v))[0]
            packed.append(v)
        slots = (ctypes.c_int64 * len(packed))(*packed)
        address = ctypes.c_uint64(fault.data_ptr())
        stream = torch.cuda.current_stream().cuda_stream
        descriptors = Descriptors(self.boxes, values, self.pack, stream)
        cluster = math.prod(self.cluster) if all(n % c == 0 for n, c in zip(extents, self.cluster)) else 1
        blocks = math.prod(extents) if self.at_once is None else self.blocks_of_launch(math.prod(extents), cluster)
        # Of blocks that were dealt out; none where all run at once.
        dealt = torch.zeros(1, dtype=torch.int32, device=DEVICE) if self.is_dealt and blocks < math.prod(extents) else None
        counter = ctypes.c_uint64(dealt.data_ptr() if dealt is not None else 0)
        parameters = (ctypes.c_void_p * 4)(ctypes.addressof(slots), ctypes.addressof(address), descriptors.address, ctypes.addressof(counter))
        # Clusters are one of the launch's attributes; like the launcher, only where they cut the grid.
        attributes = [struct.pack("<i4x3i52x", 4, cluster, 1, 1)] * (cluster > 1) + [struct.pack("<i4xi60x", 6, 1)] * self.begins_early
        memory = ctypes.create_string_buffer(b"".join(attributes), 72 * 2)
        config = struct.pack("<7I4xQQI4x", blocks, 1, 1, self.threads, 1, 1, self.shared,
                             stream, ctypes.addressof(memory), len(attributes))
        call("cuLaunchKernelEx", config, self.function, parameters, None)


def load(path):
    """The exports of one file: name -> instances, each its launches in order."""
    text = path.read_text()
    image = path.with_suffix(".cubin")
    data = image.read_bytes() if image.exists() else text.encode() + b"\0"
    module = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), data)
    exports = {}
    for line in text.splitlines():
        if line.startswith("// ") and "; slots " in line:
            kernel = Kernel(line, module, begins_early="griddepcontrol" in text)
            name, number = re.fullmatch(r"(.*)_(\d+)_launch\d+_.*", kernel.name).groups()
            exports.setdefault(name, {}).setdefault(number, []).append(kernel)
    return {name: list(instances.values()) for name, instances in exports.items()}


def instance_for(instances, dims):
    """The one that the launcher would run."""
    return instances[0] if len(instances) == 1 else min(instances, key=lambda kernels: expected_clocks(kernels, dims))


def expected_clocks(kernels, dims):
    """Of all launches; None where they do not tell."""
    return sum(clocks_of(kernel.clocks, dims) for kernel in kernels) if all(kernel.clocks for kernel in kernels) else None


# ---- data and references, by export

def product_case(name, dims):
    t = element(name)
    result = {torch.float8_e4m3fn: torch.float16, torch.int8: torch.int32}.get(t, t)
    if name.startswith("split_k"):
        result = torch.float32
    m, n, k, z = dims["M"], dims["N"], dims["K"], dims.get("Z")
    batch = (z,) if z is not None else ()
    turned = "transposed" in name
    a, b = data(batch + (m, k), t), data(batch + ((n, k) if turned else (k, n)), t)
    values = dict(dims, A=a, B=b, C=poisoned(batch + (m, n), result))
    if z is not None and not turned:
        values |= {"batch_a": m * k, "lda": k, "batch_b": k * n, "ldb": n, "batch_c": m * n, "ldc": n}
    if name.startswith("split_k"):
        values["partial"] = poisoned(((4 if t == torch.float32 else 8), m, n), torch.float32)

    def reference():
        left, right = multiplied(name, a).to(F64), multiplied(name, b).to(F64)
        c = left @ (right.transpose(-1, -2) if turned else right)
        return c.clamp(min=0) if name.startswith("gemm_relu") else c

    return values, {"C": reference}


def row_case(name, dims):
    t = element(name)
    x = data((dims["M"], dims["N"]), t)
    values = dict(dims, X=x, Y=poisoned(x.shape, t))
    if name.startswith("softmax"):
        return values, {"Y": lambda: torch.softmax(x.to(F64), dim=1)}
    weight, bias = data((dims["N"],), t), data((dims["N"],), t)
    values |= {"weight": weight, "bias": bias, "epsilon": 1e-5}
    if name.startswith("layer_norm"):
        one = [v.to(F64) for v in (x, weight, bias)]
        return values, {"Y": lambda: torch.nn.functional.layer_norm(one[0], (dims["N"],), one[1], one[2], 1e-5)}
    return values, {"Y": lambda: x.to(F64) * torch.rsqrt((x.to(F64) ** 2).mean(1, keepdim=True) + 1e-5) * weight.to(F64)}


def attention_case(name, dims):
    t = element(name)
    b, h, g, s, length, d = dims["B"], dims["H"], dims["G"], dims["S"], dims["L"], 64 if "f32" in name or "d64" in name else 128
    q, k, v = data((b, h, s, d), t), data((b, g, length, d), t), data((b, g, length, d), t)
    scale = 1.4426950408889634 / d**0.5
    values = dict(dims, Q=q, K=k, V=v, O=poisoned(q.shape, t), lse=poisoned((b, h, s), torch.float32), scale=scale)

    def scores():
        wide = k.to(F64).repeat_interleave(h // g, dim=1)
        p = q.to(F64) @ wide.transpose(-1, -2) * scale
        if "causal" in name:
            row, column = torch.arange(s, device=DEVICE), torch.arange(length, device=DEVICE)
            p = p.masked_fill(column[None, :] > row[:, None], -torch.inf)
        return p * 0.6931471805599453

    return values, {"O": lambda: torch.softmax(scores(), -1) @ v.to(F64).repeat_interleave(h // g, dim=1),
                    "lse": lambda: torch.logsumexp(scores(), -1) / 0.6931471805599453}


def other_case(name, dims):
    t = element(name)
    if name.startswith("vector_add"):
        a, b = data((dims["N"],), t), data((dims["N"],), t)
        return dict(dims, A=a, B=b, C=poisoned((dims["N"],), t)), {"C": lambda: a.to(F64) + b.to(F64)}
    if name.startswith("transpose"):
        a = data((dims["M"], dims["N"]), t)
        stored = torch.float16 if "narrowed" in name else t
        return dict(dims, A=a, B=poisoned((dims["N"], dims["M"]), stored)), {"B": lambda: a.to(F64).T}
    x = data((dims["N"],), torch.uint8)
    bins = torch.zeros(256, device=DEVICE, dtype=torch.int32)
    return dict(dims, x=x, bins=bins), {"bins": lambda: torch.bincount(x.int(), minlength=256).to(F64)}


def diverging_case(name, dims):
    a = data((dims["N"],), torch.int32)
    if name == "diverge_count":
        lane = torch.arange(dims["N"], device=DEVICE) % 256
        picked = (lane % 3 == 0).sum()
        sums = [(a > 0).sum(), a[a <= 0].sum(), picked, 0 * picked]
        return dict(dims, A=a, R=torch.zeros(4, device=DEVICE, dtype=torch.int32)), {"R": lambda: torch.stack(sums).to(F64)}

    def reference():
        x = torch.zeros((dims["N"] + 31) // 32 * 32, device=DEVICE, dtype=F64)
        x[: dims["N"]] = a
        x = x.view(-1, 32)
        all_sum, greatest = x.sum(1, keepdim=True), x.max(1, keepdim=True)[0]
        if name == "diverge_edge":
            r = all_sum.expand_as(x)
        elif name == "diverge_sides":
            r = torch.empty_like(x)
            r[:, ::2], r[:, 1::2] = x[:, ::2].sum(1, keepdim=True), x[:, 1::2].max(1, keepdim=True)[0]
        else:
            r = torch.full_like(x, -1.0)
            r[:, :8] = x[:, :8].sum(1, keepdim=True)
            r = r * 1000 + greatest
        return r.reshape(-1)[: dims["N"]]

    return dict(dims, A=a, R=poisoned((dims["N"],), torch.int32)), {"R": reference}


PRODUCTS = [dict(M=m, N=n, K=k) for m, n, k in [(1, 1, 1), (33, 129, 65), (130, 7, 100), (64, 64, 64), (5, 7, 0), (257, 255, 383),
                                                (63, 513, 91), (7, 3, 1025), (512, 384, 1024), (1001, 999, 1003), (1024, 1024, 1024)]]
ROWS = [dict(M=m, N=n) for m, n in [(1, 1), (33, 257), (8, 512), (9, 1025), (0, 7), (3, 4097), (65, 127), (1000, 999), (4096, 2048)]]
CASES = {
    "vector_add": (other_case, [dict(N=n) for n in (1, 31, 33, 4096, 4097, 0, 100003, 1 << 20, 1000000)]),
    "gemm_relu": (product_case, PRODUCTS),
    "split_k": (product_case, PRODUCTS),
    "batched_gemm": (product_case, [dict(p, Z=3) for p in PRODUCTS]),
    "softmax": (row_case, ROWS),
    "rms_norm": (row_case, ROWS),
    "layer_norm": (row_case, ROWS),
    "attention": (attention_case, [dict(B=b, H=h, G=g, S=s, L=n) for b, h, g, s, n in
                                   [(1, 1, 1, 1, 1), (1, 3, 1, 33, 65), (1, 1, 1, 129, 131), (2, 2, 2, 16, 16), (1, 3, 3, 7, 130), (3, 5, 5, 65, 1023),
                                    (1, 8, 2, 1024, 1024), (1, 5, 1, 257, 1031), (1, 4, 1, 512, 777)]]),
    "transpose": (other_case, [dict(M=m, N=n) for m, n in [(1, 1), (33, 65), (64, 32), (7, 129), (0, 3), (31, 63), (1000, 1001), (4096, 4096), (129, 4097)]]),
    **cases_products.CASES,
    **cases_movement.CASES,
    **cases_clusters.CASES,
    **cases_attention.CASES,
    "diverge": (diverging_case, [dict(N=n) for n in (1, 31, 32, 33, 40, 255, 1000, 4097)]),
    "histogram": (other_case, [dict(N=n) for n in (1, 31, 255, 1000, 4097, 0, 65537, 1 << 20, 10000019)]),
}
# What rounding the result costs at most; sums in f32 cost less than it in all but f32.
# Where kernels add to what is there.
ZEROED = {"histogram", "add_tile", "add_box", "add_product", "add_some", "add_where"} | cases_clusters.ZEROED
TOLERANCE = {torch.float16: 5e-4, torch.bfloat16: 4e-3, torch.float32: 1e-5}


def case_of(name):
    return max((key for key in CASES if name.startswith(key)), key=len)


def error(out, reference):
    """||out - reference|| / ||reference||; integers must be equal."""
    if not out.numel():
        return 0.0
    out = out.to(F64)
    if torch.isnan(out).any():
        return float("nan")
    scale = reference.norm().item() or 1.0
    return ((out - reference).norm() / scale).item()


def moved(value, by):
    """The same numbers, so many elements behind where any access may begin. Atomics of less than four bytes touch the word around,
    which has been written, too."""
    if not isinstance(value, torch.Tensor):
        return value
    room = torch.zeros((value.numel() + by + 4) * value.element_size(), device=DEVICE, dtype=torch.uint8).view(value.dtype)
    room = room[by : by + value.numel()]
    room.copy_(value.reshape(-1))
    return room.view(value.shape)


def check(name, kernels, dims, quiet):
    values, wanted = CASES[case_of(name)][0](name, dims)
    fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)
    bits = []
    workspaces = {key for case, keys in cases_attention.WORKSPACES.items() if name.startswith(case) for key in keys}
    tensors = [key for key, value in values.items() if isinstance(value, torch.Tensor) and key not in workspaces]
    # As they come, twice; then one tensor at an odd address, another one, all of them.
    for odd in ([], [], tensors[:1], tensors[1:2], tensors):
        placed = values | {key: moved(values[key], int(key in odd)) for key in {*wanted, *odd}}
        for key in wanted:
            out = placed[key]
            out.zero_() if case_of(name) in ZEROED or name == "diverge_count" else out.numel() and out.view(torch.uint8).fill_(0xFF)
        for kernel in kernels:
            kernel.launch(placed, fault)
        torch.cuda.synchronize()
        bits.append([placed[key].clone() for key in wanted])
    worst, is_good = 0.0, True
    for (key, reference), first, *others in zip(wanted.items(), *bits):
        e = error(first, reference())
        is_ordered = (case_of(name), key) not in cases_attention.UNORDERED
        same = not first.numel() or not is_ordered or all(torch.equal(first.view(torch.uint8), other.view(torch.uint8)) for other in others)
        limit = max(TOLERANCE.get(values[key].dtype, 0.0), cases_attention.TOLERANCE.get(case_of(name), 0.0))
        # Sums of 8-bit floats keep 13 binary places in products of four warps (T0809), which one machine has.
        if ("f8" in name or "fp8" in name) and kernels[0].name.endswith("sm_90a"):
            limit += 0.3 * 2.0**-13 * dims["K"] ** 0.5
        is_good &= same and e <= limit and not fault.item()
        worst = max(worst, e) if e == e else e
    if not is_good or not quiet:
        print(f"{'ok  ' if is_good else 'BAD '} {name} {dims} error {worst:.1e} fault {fault.item()}", flush=True)
    return is_good


IN_A_ROW, SAMPLES, REST = 8, 11, 0.02
HEAD_START = 10_000_000  # cycles, some milliseconds: what a host needs to queue all launches of a sample


def sample_ms(run):
    """One launch of several in a row, all queued behind a kernel that does nothing, so that none waits for the host; a rest before
    them, as clocks follow the load."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    run()
    torch.cuda.synchronize()
    time.sleep(REST)
    torch.cuda._sleep(HEAD_START)
    start.record()
    for _ in range(IN_A_ROW):
        run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / IN_A_ROW


def medians_ms(runs):
    """Of each, taken in turn, each time in another order."""
    times = [[] for _ in runs]
    for _ in range(SAMPLES):
        for i in random.sample(range(len(runs)), len(runs)):
            times[i].append(sample_ms(runs[i]))
    return [sorted(t)[SAMPLES // 2] for t in times]


def timings(exports):
    fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)

    def beside(name, dims, reference):
        if name not in exports:
            return
        values, _ = CASES[case_of(name)][0](name, dims)
        kernels = instance_for(exports[name], dims)
        own, other = medians_ms([lambda: [k.launch(values, fault) for k in kernels], lambda: reference(values)])
        print(f"time {name} {dims}: {own:.3f} ms, reference {other:.3f} ms, ratio {other / own:.2f}", flush=True)

    for n in (4096, 8192):
        beside("gemm_relu_f16", dict(M=n, N=n, K=n), lambda v: torch.mm(v["A"], v["B"]))
    beside("gemm_relu_f32", dict(M=2048, N=2048, K=2048), lambda v: torch.mm(v["A"], v["B"]))
    beside("softmax_long_f32", dict(M=8192, N=8192), lambda v: v["Y"].copy_(v["X"]))
    beside("rms_norm_long_f32", dict(M=8192, N=8192), lambda v: v["Y"].copy_(v["X"]))
    beside("layer_norm_long_f32", dict(M=8192, N=8192), lambda v: v["Y"].copy_(v["X"]))
    beside("transpose_f32", dict(M=8192, N=8192), lambda v: v["B"].copy_(v["A"]))
    def attend(q, k, v):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    beside("attention_f16", dict(B=1, H=16, G=16, S=4096, L=4096), lambda v: attend(v["Q"], v["K"], v["V"]))
    cases_products.timings(beside)
    cases_attention.timings(beside)


def main():
    folder, quiet, is_small = pathlib.Path(sys.argv[1]), "--quick" in sys.argv, "--small" in sys.argv
    torch.manual_seed(1)
    torch.zeros(1, device=DEVICE)  # makes the context that the driver's calls take
    good = bad = 0
    for machine in sorted({p.name.split(".")[1] for p in folder.glob("*.ptx")}):
        exports = {}
        for path in sorted(folder.glob(f"*.{machine}.ptx")):
            if path.name.startswith("launcher."):
                continue  # its own program calls it
            try:
                exports |= load(path)
            except RuntimeError as problem:
                print(f"BAD  {path.name}: {problem}")
                bad += 1
        print(f"== {machine}: {len(exports)} exports on {torch.cuda.get_device_name()}", flush=True)
        for name, instances in exports.items():
            shapes = [dims for dims in CASES[case_of(name)][1] if not is_small or max(dims.values()) <= 300]
            results = [check(name, kernels, dims, quiet) for kernels in instances for dims in shapes]
            good, bad = good + sum(results), bad + len(results) - sum(results)
        if not is_small:
            timings(exports)
    print(f"{good} agree, {bad} do not")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
