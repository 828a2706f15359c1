#!/usr/bin/env python3
"""The rows of "What a program means", each with the numbers that it must give: rows.py TILEC [ENGINE...]

A kernel of rows/*.tile stands behind a line for each call of it:
    //! {"given": {"x": [1, 2], "n": 3}, "want": {"y": [2, 4]}}
with `"bounds": true` where the call reports TILE_BOUNDS, `"requires": "n >= 0"` where it is refused for that, with `"where": "n is -1"`
as what it says of the call, and `"said": false` where the reference does not say a number, so that the source is not judged.

Engines: forms of the interpreter (`source`, `typed`, `thread`, and `sm_90a`, the thread form of that machine), levels of the CPU, C text by
`gcc` and `clang-19`. Without any, all that run here.
    rows.py TILEC build FOLDER [MACHINE]     compiles for a GPU, sm_90a, which another machine may have: FOLDER goes there together with `tests`
    rows.py - run FOLDER                     runs what was compiled
"""
import ctypes
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from memory import Device, Host

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "int": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_}
FLAGS = {"x86-64": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}
HERE = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
LEVELS = [level for level, flag in FLAGS.items() if flag in HERE]
COMPILERS = ["gcc", "clang-19"]
FORMS = ["source", "typed", "thread", "sm_90a"]  # the last one: the thread form of that machine
SHAPE, BOUNDS = 2, 11


def cases(path):
    """(kernel, case) of a file, in its order."""
    waiting = []
    for line in path.read_text().splitlines():
        if line.startswith("//! "):
            waiting.append(json.loads(line[4:]))
        found = re.match(r"export kernel (\w+)", line)
        if found:
            assert waiting, f"{path.name}: {found[1]} has no case"
            yield from ((found[1], case) for case in waiting)
            waiting = []
    assert not waiting, f"{path.name}: a case without a kernel"


def number(x):
    return float(x) if isinstance(x, str) else x


def same(got, want):
    got, want = number(got), number(want)
    return got == want and math.copysign(1, got) == math.copysign(1, want) or (got != got and want != want)


def difference(got, want):
    for name, values in want.items():
        for i, (a, b) in enumerate(zip(got[name], values)):
            if not same(a, b):
                return f"{name}[{i}] is {a}, not {b}"
        if len(got[name]) != len(values):
            return f"{name} has {len(got[name])} elements, not {len(values)}"
    return ""


def form_of(engine):
    return [f"--form={engine}"] if not engine.startswith("sm_") else ["--form=thread", f"--target={engine}"]


class Tilec:
    def __init__(self, compiler, folder):
        self.compiler, self.folder = compiler, folder

    def run(self, *words):
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=self.folder, timeout=300)

    def done(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done

    def interpreted(self, path, kernel, case, form):
        """The outputs, or what is wrong."""
        data = self.folder / "data.json"
        data.write_text(json.dumps(case["given"]))
        done = self.run(self.compiler, "run", path, "-w", f"--kernel={kernel}", *form_of(form), f"--data={data}", "--print=json", "--numeric=typed")
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if len(lines) != 1:
            return f"{done.stdout}{done.stderr}"
        if "not_judged" in lines[0] and case.get("said", True):
            return f"not judged: {lines[0]['not_judged']}"
        if form == "source" and not case.get("said", True):
            return "" if "not_judged" in lines[0] else f"judged: {lines[0]['outputs']}"
        fault = lines[0]["fault"] or lines[0]["guard"]
        if "requires" in case and fault and fault["text"] == f"requires {case['requires']}":
            words = "where" in case and self.run(self.compiler, "run", path, "-w", f"--kernel={kernel}", *form_of(form), f"--data={data}")
            return "" if not words or tells(words.stdout.partition(" [contract]")[0], case["where"]) else f"{words.stdout}{words.stderr}"
        if bool(fault) != case.get("bounds", False) or "requires" in case:
            return f"fault: {fault}"
        return "" if fault else difference(lines[0]["outputs"], case["want"])

    def library(self, path, engine):
        """The functions of a file, and what they take."""
        made = self.compiled(path, engine, self.folder / f"{path.stem}-{engine}.so")
        return opened(made)

    def compiled(self, path, engine, made):
        if engine in COMPILERS:
            self.done(self.compiler, path, "-w", "--emit=c", "-o", "k.c", "--header", "k.h", "--manifest", "k.json")
            self.done(engine, "-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared", "-o", made, "k.c", "-lm", "-lpthread")
        else:
            target = f"x86-64-v3,{engine}" if engine.startswith("sm_") else engine
            self.done(self.compiler, path, "-w", f"--target={target}", "-o", "k.o", "--header", "k.h", "--manifest", "k.json")
            self.done("cc", "-shared", "-o", made, "k.o", "-lpthread")
        made.with_suffix(".json").write_text((self.folder / "k.json").read_text())
        return made


def opened(made):
    kernels = json.loads(made.with_suffix(".json").read_text())["kernels"]
    return ctypes.CDLL(str(made)), {k["name"]: k for k in kernels}


def extents(parameter, case, dims):
    """As many elements as are wanted, or as its type says."""
    wanted = case["want"].get(parameter["name"])
    return len(wanted) if wanted is not None else math.prod(x if isinstance(x, int) else dims[x] for x in parameter["shape"])


def tells(message, where):
    """Does it end in these names and numbers? Of a number six digits are told, or as many as it has."""
    told, wanted = message.rpartition(", where ")[2].split(), where.split()
    close = lambda a, b: a == b or (re.match(r"-?\d", a) and re.match(r"-?\d", b) and math.isclose(float(a), float(b), rel_tol=1e-5))
    return len(told) == len(wanted) and all(map(close, told, wanted))


def f8e4m3(bits):
    sign, exponent, mantissa = -1 if bits & 128 else 1, bits >> 3 & 15, bits & 7
    if bits & 127 == 127:
        return math.nan
    return sign * ((8 + mantissa) * 2.0 ** (exponent - 10) if exponent else mantissa * 2.0 ** -9)


def bits_of(element, x):
    """A number as a call takes it, which the type holds exactly."""
    if element in ("f32", "f64"):
        return (ctypes.c_float if element == "f32" else ctypes.c_double)(x)
    if element == "f8e4m3":
        return ctypes.c_int64(next(b for b in range(256) if same(f8e4m3(b), x)))
    if element == "bf16":
        return ctypes.c_int64(int(np.array(x, np.float32).view(np.uint32)) >> 16)
    if element in ("f16", "f8e5m2"):
        return ctypes.c_int64(int(np.array(x, np.float16).view(np.uint16)) >> (8 if element == "f8e5m2" else 0))
    return ctypes.c_int64(int(np.array(x, TYPES[element])))


def called(library, kernel, case, memory):
    parameters = {p["name"]: p for p in kernel["parameters"]}
    tensors, arguments = {}, []
    dims = {name: x for name, x in case["given"].items() if isinstance(x, int)}
    is_given = lambda p: p["name"] in case["given"]
    for p in sorted((p for p in parameters.values() if p["kind"] == "tensor"), key=is_given, reverse=True):
        given = case["given"].get(p["name"]) if is_given(p) else [0] * extents(p, case, dims)
        rows = given if given and isinstance(given[0], list) else [given]
        tensors[p["name"]] = np.array([number(x) for row in rows for x in row], dtype=TYPES[p["element"]])
        for name, extent in zip(p["shape"], [len(given)] if rows[0] is given else [len(rows), len(rows[0])]):
            if isinstance(name, str) and (p["name"] in case["given"] or len(p["shape"]) == 1):
                dims.setdefault(name, extent)
    placed = {name: memory.place(t) for name, t in tensors.items()}
    for a in kernel["arguments"]:
        name = a["name"]
        if name in tensors:
            arguments.append(ctypes.c_void_p(placed[name][0]))
        elif name in parameters:
            arguments.append(bits_of(parameters[name]["element"], number(case["given"][name])))
        elif name in case["given"] or name in dims:
            arguments.append(ctypes.c_int64(case["given"].get(name, dims.get(name))))
        else:
            arguments.append(ctypes.c_void_p(None))  # the stream
    status = getattr(library, kernel["name"])(*arguments)
    if isinstance(memory, Device) and not status:
        status = getattr(library, kernel["name"] + "_check")(ctypes.c_void_p(None))
    tensors = {name: memory.fetch(p) for name, p in placed.items()}
    for p in placed.values():
        memory.free(p)
    library.tile1_last_message.restype = ctypes.c_char_p
    message = library.tile1_last_message().decode() if status else ""
    wanted = BOUNDS if case.get("bounds") else SHAPE if "requires" in case else 0
    if status != wanted or (status == SHAPE and f": requires {case['requires']} (" not in message) or ("where" in case and not tells(message, case["where"])):
        return f"status {status}: {message}"
    return difference({n: t.tolist() for n, t in tensors.items()}, case["want"])


FILES = sorted((pathlib.Path(__file__).parent / "rows").glob("*.tile"))


def build_for_gpu(compiler, folder, machine="sm_90a"):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for path in FILES:
        Tilec(pathlib.Path(compiler).resolve(), folder).compiled(path, machine, folder / f"{path.stem}.so")


def run_on_gpu(folder):
    passed = failed = 0
    memory = Device()
    for path in FILES:
        library, kernels = opened(pathlib.Path(folder).resolve() / f"{path.stem}.so")
        for kernel, case in cases(path):
            said = called(library, kernels[kernel], case, memory)
            passed, failed = passed + (not said), failed + bool(said)
            if said:
                print(f"{path.name}: {kernel}, gpu: {said}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed


def main():
    if sys.argv[2:3] == ["build"]:
        return build_for_gpu(sys.argv[1], *sys.argv[3:])
    if sys.argv[2:3] == ["run"]:
        sys.exit(run_on_gpu(sys.argv[3]) != 0)
    compiler, engines = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or [*FORMS, *LEVELS, *COMPILERS]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tilec = Tilec(compiler, pathlib.Path(folder))
        for path in FILES:
            for engine in engines:
                try:
                    library, kernels = (None, {}) if engine in FORMS else tilec.library(path, engine)
                except AssertionError as said:
                    failed += 1
                    print(f"{path.name}, {engine}: {said}", flush=True)
                    continue
                for kernel, case in cases(path):
                    said = called(library, kernels[kernel], case, Host()) if library else tilec.interpreted(path, kernel, case, engine)
                    passed, failed = passed + (not said), failed + bool(said)
                    if said:
                        print(f"{path.name}: {kernel}, {engine}: {said}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
