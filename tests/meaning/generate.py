#!/usr/bin/env python3
"""Random programs against their meaning in Python: generate.py TILEC FIRST COUNT [ENGINE...]

Every number names a program. Engines: `native` (a level of the CPU by chance), `gcc` and `clang` (C text), and forms of the interpreter: `source`,
`typed`, `thread`. What is printed is a program whose result is another one, with the first element that differs.
    generate.py TILEC build FOLDER FIRST COUNT [MACHINE]   compiles for a GPU, sm_90a: FOLDER goes to its machine together with `tests`
    generate.py - run FOLDER FIRST COUNT                   runs what was compiled
"""
import copy
import ctypes
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import programs
from memory import Device, Host

DTYPES = {"i32": np.int32, "i64": np.int64, "u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}
CTYPES = {m: DTYPES[t] for m, t in programs.TENSORS.items()}
FLAGS = {"x86-64": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}
HERE = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
LEVELS = [level for level, flag in FLAGS.items() if flag in HERE]
FORMS = ("source", "typed", "thread", "sm_90a")  # the last one: the thread form of that machine
C_FLAGS = ["-std=c11", "-O1", "-fPIC", "-shared", "-w"]
BATCH = 20  # programs of one file


def call(library, program, given, memory):
    arrays = {m: np.array(given[m], dtype=t) for m, t in CTYPES.items()}
    function = getattr(library, f"k{program.number}")
    placed = {m: memory.place(x) for m, x in arrays.items()}
    arguments = [ctypes.c_void_p(placed[m][0]) for m in CTYPES]
    arguments += [ctypes.c_int32(given["n"]), ctypes.c_int64(given["m"]), ctypes.c_float(given["x"]), ctypes.c_double(given["y"]), ctypes.c_void_p(None)]
    status = function(*arguments)
    if isinstance(memory, Device) and not status:
        status = getattr(library, f"k{program.number}_check")(ctypes.c_void_p(None))
    arrays = {m: memory.fetch(p) for m, p in placed.items()}
    for p in placed.values():
        memory.free(p)
    if status:
        library.tile1_last_message.restype = ctypes.c_char_p
        return f"status {status}: {library.tile1_last_message().decode()}", arrays
    return "", arrays


def meaning(program, given):
    data = copy.deepcopy(given)
    with np.errstate(all="ignore"):
        program.run(data)
    return {m: np.array(data[m], dtype=t) for m, t in CTYPES.items()}


def different(got, want, given):
    for m in CTYPES:
        at = np.flatnonzero(~((got[m] == want[m]) | ((got[m] != got[m]) & (want[m] != want[m]))))
        if at.size:
            return f"{m}[{at[0]}] is {got[m][at[0]]}, not {want[m][at[0]]}, for {given}"
    return ""


def difference(program, library, rng, memory=Host()):
    for _ in range(3):
        given = programs.data(rng)
        said, got = call(library, program, given, memory)
        if said:
            return f"{said} for {given}"
        found = different(got, meaning(program, given), given)
        if found:
            return found
    return ""


class Judge:
    def __init__(self, compiler, folder, engines):
        self.compiler, self.folder, self.engines = compiler, folder, engines
        self.failed = self.ran = 0

    def fail(self, program, what):
        self.failed += 1
        print(f"k{program.number}: {what}", flush=True)

    def shell(self, *words):
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=self.folder, timeout=300)

    def compiled(self, engine, text, rng):
        """A library of the text, or what is wrong."""
        source, made = self.folder / "k.tile", self.folder / f"k{rng.randrange(1 << 60)}.so"
        source.write_text(text)
        if engine == "native":
            done = self.shell(self.compiler, source, "-w", f"--target={rng.choice(LEVELS)}", "-o", "k.o", "--header", "k.h")
            done = done if done.returncode else self.shell("cc", "-shared", "-o", made, "k.o", "-lpthread")
        else:
            done = self.shell(self.compiler, source, "-w", "--emit=c", "-o", "k.c", "--header", "k.h")
            compiler = {"gcc": "gcc", "clang": "clang-19"}[engine]
            done = done if done.returncode else self.shell(compiler, *C_FLAGS, "-o", made, "k.c", "-lm", "-lpthread")
            if "internal compiler error" in done.stderr:  # gcc 12 crashes on programs that it compiles without optimization; they are judged so
                print(f"... {compiler} crashed", flush=True)
                done = self.shell(compiler, *C_FLAGS, "-O0", "-o", made, "k.c", "-lm", "-lpthread")
        if done.returncode:
            return None, f"exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[:1200]}"
        library = ctypes.CDLL(str(made))
        made.unlink()
        return library, ""

    def interpreted(self, program, rng, form):
        """One form of the interpreter, on the data of a call."""
        source, data = self.folder / "k.tile", self.folder / "data.json"
        source.write_text(programs.PRELUDE + program.text)
        given = programs.data(rng)
        data.write_text(json.dumps({k: [x.item() if hasattr(x, "item") else x for x in v] if isinstance(v, list) else v.item() if hasattr(v, "item") else v for k, v in given.items()}))
        done = self.shell(self.compiler, "run", source, "-w", *(["--form=thread", f"--target={form}"] if form.startswith("sm_") else [f"--form={form}"]), "--numeric=typed", f"--data={data}", "--print=json")
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if len(said) != 1 or said[0].get("fault") or said[0].get("guard") or "not_judged" in said[0]:
            return f"exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[:500]}"
        got = {m: np.array([float(x) if isinstance(x, str) else x for x in said[0]["outputs"][m]], dtype=t) for m, t in CTYPES.items()}
        return different(got, meaning(program, given), given)

    def batch(self, numbers):
        rng = random.Random(numbers[0])
        for engine in self.engines:
            self.judge(engine, [programs.Program(n) for n in numbers], rng)
        self.ran += len(numbers)

    def judge(self, engine, all_, rng):
        text = programs.PRELUDE + "\n".join(p.text for p in all_)
        if engine in FORMS:
            for p in all_:
                found = self.interpreted(p, rng, engine)
                if found:
                    self.fail(p, f"{engine}: {found}")
            return
        library, said = self.compiled(engine, text, rng)
        if library is None and len(all_) > 1:  # which one is it?
            for p in all_:
                self.judge(engine, [p], rng)
            return
        if library is None:
            return self.fail(all_[0], f"{engine}: {said}")
        for p in all_:
            found = difference(p, library, rng)
            if found:
                self.fail(p, f"{engine}: {found}")


def numbers_from(first, count):
    return [list(range(n, min(n + BATCH, first + count))) for n in range(first, first + count, BATCH)]


def build_for_gpu(compiler, folder, first, count, machine="sm_90a"):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    judge = Judge(pathlib.Path(compiler).resolve(), folder, [])
    for numbers in numbers_from(int(first), int(count)):
        source = folder / "k.tile"
        source.write_text(programs.PRELUDE + "\n".join(programs.Program(n).text for n in numbers))
        for done in (judge.shell(compiler, source, "-w", f"--target=x86-64-v3,{machine}", "-o", "k.o", "--header", "k.h"),
                     judge.shell("cc", "-shared", "-o", f"programs{numbers[0]}.so", "k.o", "-lpthread")):
            assert done.returncode == 0, done.stderr


def run_on_gpu(folder, first, count):
    judge, memory = Judge("", pathlib.Path(folder), []), Device()
    for numbers in numbers_from(int(first), int(count)):
        library = ctypes.CDLL(str(pathlib.Path(folder).resolve() / f"programs{numbers[0]}.so"))
        for n in numbers:
            program = programs.Program(n)
            found = difference(program, library, random.Random(n), memory)
            judge.ran += 1
            if found:
                judge.fail(program, f"gpu: {found}")
    print(f"{judge.ran} programs, {judge.failed} failed")
    return judge.failed


def main():
    if sys.argv[2:3] == ["build"]:
        return build_for_gpu(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[3:])
    if sys.argv[2:3] == ["run"]:
        sys.exit(run_on_gpu(*sys.argv[3:]) != 0)
    compiler, first, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(compiler, pathlib.Path(folder), sys.argv[4:] or ["native"])
        for numbers in numbers_from(first, count):
            judge.batch(numbers)
            if judge.ran % 1000 == 0:
                print(f"... {judge.ran}", file=sys.stderr, flush=True)
    print(f"{judge.ran} programs, {judge.failed} failed")
    sys.exit(judge.failed != 0)


if __name__ == "__main__":
    main()
