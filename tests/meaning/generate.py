#!/usr/bin/env python3
"""Random programs against their meaning in Python: generate.py TILEC FIRST COUNT [ENGINE...]

Every number names a program. Engines: `native` (a level of the CPU by chance), `gcc` and `clang` (C text), and forms of the interpreter: `source`,
`typed`, `thread`. What is printed is a program whose result is another one, with the first element that differs.
"""
import copy
import ctypes
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

import programs

CTYPES = {"A": np.int32, "B": np.int32, "F": np.float32, "D": np.float64}
FLAGS = {"x86-64": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}
HERE = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
LEVELS = [level for level, flag in FLAGS.items() if flag in HERE]
C_FLAGS = ["-std=c11", "-O1", "-fPIC", "-shared", "-w"]
BATCH = 20  # programs of one file


def call(library, program, given):
    arrays = {m: np.array(given[m], dtype=t) for m, t in CTYPES.items()}
    function = getattr(library, f"k{program.number}")
    arguments = [ctypes.c_void_p(arrays[m].ctypes.data) for m in CTYPES]
    arguments += [ctypes.c_int32(given["n"]), ctypes.c_int64(given["m"]), ctypes.c_float(given["x"]), ctypes.c_double(given["y"]), ctypes.c_void_p(None)]
    status = function(*arguments)
    if status:
        library.tile1_last_message.restype = ctypes.c_char_p
        return f"status {status}: {library.tile1_last_message().decode()}", arrays
    return "", arrays


def meaning(program, given):
    data = copy.deepcopy(given)
    with np.errstate(all="ignore"):
        program.run(data)
    return {m: np.array(data[m], dtype=t) for m, t in CTYPES.items()}


def difference(program, library, rng):
    for _ in range(3):
        given = programs.data(rng)
        said, got = call(library, program, given)
        if said:
            return f"{said} for {given}"
        want = meaning(program, given)
        for m in CTYPES:
            at = np.flatnonzero(~((got[m] == want[m]) | ((got[m] != got[m]) & (want[m] != want[m]))))
            if at.size:
                return f"{m}[{at[0]}] is {got[m][at[0]]}, not {want[m][at[0]]}, for {given}"
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
        if done.returncode:
            return None, f"exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[:1200]}"
        library = ctypes.CDLL(str(made))
        made.unlink()
        return library, ""

    def interpreted(self, programs_, text, rng, machine):
        source = self.folder / "k.tile"
        source.write_text(text)
        done = self.shell(self.compiler, "run", source, "-w", "--after-each", "--numeric=typed", f"--target={machine}", f"--seed={rng.randrange(1000)}")
        if done.returncode:
            lines = [x for x in done.stdout.splitlines() if "agrees" not in x]
            self.fail(programs_[0], f"{machine}: exit code {done.returncode}\n  " + "\n  ".join(lines[:3]) + done.stderr[:500])

    def batch(self, numbers):
        rng = random.Random(numbers[0])
        for engine in self.engines:
            self.judge(engine, [programs.Program(n) for n in numbers], rng)
        self.ran += len(numbers)

    def judge(self, engine, all_, rng):
        text = programs.PRELUDE + "\n".join(p.text for p in all_)
        if engine not in ("native", "gcc", "clang"):
            return self.interpreted(all_, text, rng, engine)
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


def main():
    compiler, first, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(compiler, pathlib.Path(folder), sys.argv[4:] or ["native"])
        for n in range(first, first + count, BATCH):
            judge.batch(list(range(n, min(n + BATCH, first + count))))
    print(f"{judge.ran} programs, {judge.failed} failed")
    sys.exit(judge.failed != 0)


if __name__ == "__main__":
    main()
