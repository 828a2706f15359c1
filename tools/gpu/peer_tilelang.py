"""TileLang's examples beside our exports: what `tilelang_build.py` left in a folder, launched by the driver alone.

Of several candidates the fastest whose result is right counts. Each is told with its time and error; a line before each
run tells which one it is, so that one that hangs or ends the context is known: remove its json and go on without.
"""
import collections
import ctypes
import gzip
import json
import os
import struct
import time

import torch

import cases_attention
import check
from tensors import DEVICE, F64, poisoned

MOST_ERROR = 5e-3  # partial sums and weights of theirs are f16
PATIENCE = 20  # seconds for one launch, which takes milliseconds
FINALISTS = 2  # timed in turn with ours
MAX_SHARED, COOPERATIVE = 8, 2  # a function's attribute, a launch's


class Kernel:
    """A launch of theirs with its arguments, bound to tensors."""

    def __init__(self, launch, module, tensors):
        self.name, self.function = launch["kernel"], ctypes.c_void_p()
        check.call("cuModuleGetFunction", ctypes.byref(self.function), module, self.name.encode())
        check.call("cuFuncSetAttribute", self.function, MAX_SHARED, launch["shared"])
        self.memory, addresses = [], []
        for argument in launch["arguments"]:
            is_map = "map" in argument
            place = self.described(argument["map"], tensors) if is_map else self.pointer(tensors[argument["tensor"]])
            self.expect(len(addresses), 128 if is_map else 8)
            addresses.append(place)
        self.parameters = (ctypes.c_void_p * len(addresses))(*addresses)
        attributes = [struct.pack("<i4xi60x", COOPERATIVE, 1)] * launch["is_cooperative"]
        self.attributes = ctypes.create_string_buffer(b"".join(attributes), 72)
        self.extents = [*launch["grid"], *launch["block"], launch["shared"]]
        self.count = len(attributes)

    def expect(self, index, size):
        """That the image's parameter is of this size, where the driver can tell."""
        if not hasattr(check.cuda, "cuFuncGetParamInfo"):
            return
        offset, actual = ctypes.c_size_t(), ctypes.c_size_t()
        check.call("cuFuncGetParamInfo", self.function, ctypes.c_size_t(index), ctypes.byref(offset), ctypes.byref(actual))
        if actual.value != size:
            raise RuntimeError(f"{self.name}: parameter {index} has {actual.value} bytes, not {size}")

    def pointer(self, tensor):
        self.memory += [ctypes.c_uint64(tensor.data_ptr()), tensor]
        return ctypes.addressof(self.memory[-2])

    def described(self, box, tensors):
        room, tensor, rank = ctypes.create_string_buffer(128 + 64), tensors[box["tensor"]], len(box["extents"])
        place = (ctypes.addressof(room) + 63) & ~63
        check.call("cuTensorMapEncodeTiled", ctypes.c_void_p(place), box["type"], rank, ctypes.c_void_p(tensor.data_ptr()),
                   (ctypes.c_uint64 * rank)(*box["extents"]), (ctypes.c_uint64 * max(rank - 1, 1))(*box["strides"]),
                   (ctypes.c_uint32 * rank)(*box["box"]), (ctypes.c_uint32 * rank)(*box["steps"]), *box["modes"])
        self.memory += [room, tensor]
        return place

    def launch(self):
        stream = torch.cuda.current_stream().cuda_stream
        config = struct.pack("<7I4xQQI4x", *self.extents, stream, ctypes.addressof(self.attributes), self.count)
        check.call("cuLaunchKernelEx", config, self.function, self.parameters, None)


class Candidate:
    """One example in one configuration on our values, in its own layout; what it writes is its own."""

    def __init__(self, path, values):
        told = json.loads(path.read_text())
        self.name, tensors = told["name"], {}
        for name, tensor in told["tensors"].items():
            ours, axes = told["parameters"].get(name, (None, None))
            dtype = getattr(torch, tensor["dtype"])
            if ours is None or name == told["result"]:
                tensors[name] = poisoned(tensor["shape"], dtype)
            else:
                given = values[ours].permute(axes).contiguous() if axes else values[ours]
                if given.dtype != dtype:
                    raise RuntimeError(f"{name} is of {dtype}, {ours} of {given.dtype}")
                tensors[name] = given.reshape(tensor["shape"])
        ours, axes = told["parameters"][told["result"]]
        result = tensors[told["result"]]
        # Two axes change places: the order is its own inverse.
        self.result = (result.permute(axes) if axes else result).view(values[ours].shape)
        self.module = ctypes.c_void_p()
        check.call("cuModuleLoadData", ctypes.byref(self.module), gzip.decompress(path.with_name(path.name[:-5] + ".cubin.gz").read_bytes()))
        self.kernels = [Kernel(launch, self.module, tensors) for launch in told["launches"]]

    def launch(self):
        for kernel in self.kernels:
            kernel.launch()

    def run_once(self):
        """Ends the process where the device does not finish: nothing else could be measured there."""
        self.launch()
        done = torch.cuda.Event()
        done.record()
        until = time.monotonic() + PATIENCE
        while not done.query():
            if time.monotonic() > until:
                print(f"  {self.name}: still runs after {PATIENCE} s; ended", flush=True)
                os._exit(3)
            time.sleep(0.001)

    def unload(self):
        check.call("cuModuleUnload", self.module)


def judged(name, values, wanted):
    """(the result's key, which part of it is compared, that part in float64): of attention the first and the last head."""
    if "Q" not in values:
        (key, exact), = wanted.items()
        return key, lambda x: x, exact()
    rows, columns = (torch.arange(values[key].shape[2], device=DEVICE) for key in "QK")
    seen = columns[None, :] <= rows[:, None] if "causal" in name else (columns >= 0)[None, :]

    def part(x):
        return x[:, [0, -1]]

    return "O", part, cases_attention.attend(*(part(values[key]) for key in "QKV"), seen, values["scale"])


class Peer:
    """All candidates for one export and its sizes: a row."""

    def __init__(self, paths):
        self.paths = paths

    def tried(self, values, part, exact):
        """(milliseconds, error, candidate), of those that are right, the fastest first."""
        good = []
        for path in self.paths:
            print(f"  {path.stem}", end="", flush=True)
            try:
                candidate = Candidate(path, values)
                candidate.run_once()
                error = check.error(part(candidate.result), exact)
                ms = min(check.sample_ms(candidate.launch) for _ in range(3))
                again = check.error(part(candidate.result), exact)
            except RuntimeError as problem:
                print(f": {problem}", flush=True)
                torch.cuda.synchronize()  # raises where the context is lost
                continue
            is_right = error <= MOST_ERROR and again <= MOST_ERROR  # neither holds of NaN
            print(f": {ms:.4f} ms, error {error:.1e}{'' if is_right else ' WRONG'}", flush=True)
            if is_right:
                good.append((ms, max(error, again), candidate))
                good.sort(key=lambda one: one[0])
            for _, _, slower in good[FINALISTS:] + [(0, 0, candidate)] * (not is_right):
                slower.unload()
            good = good[:FINALISTS]
        return good

    def measure(self, kernels, name, dims):
        """(own, other, error, faults, what else there is to tell), like `table.measure`."""
        values, wanted = check.CASES[check.case_of(name)][0](name, dims)
        key, part, exact = judged(name, values, wanted)
        fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)
        good = self.tried(values, part, exact)
        if not good:
            raise RuntimeError("no candidate is right")
        own, *others = check.medians_ms([lambda: [k.launch(values, fault) for k in kernels], *(one.launch for _, _, one in good)])
        best = min(range(len(good)), key=others.__getitem__)
        note = f", reference's error {good[best][1]:.1e}, {good[best][2].name}"
        result = own, others[best], check.error(part(values[key]), exact), bool(fault.item()), note
        for _, _, candidate in good:
            candidate.unload()
        return result


def rows(folder):
    """(group, export, dims, peer), as table.py has them."""
    if not folder.is_dir():
        print(f"tilelang: no folder {folder}: see tilelang_build.py", flush=True)
        return
    grouped = collections.defaultdict(list)
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text())
        grouped[told["export"], tuple(told["dims"].items())].append(path)
    for (export, dims), paths in grouped.items():
        yield "tilelang", export, dict(dims), Peer(paths)
