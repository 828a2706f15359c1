#!/usr/bin/env python3
"""Random contracts, extents, strides, grids and workspaces against exact integers: fuzz.py TILEC SEED COUNT

Makes COUNT calls of kernels, as native code and as C text. What a call returns must be what the model says, and a kernel whose contract
bounds an index writes nothing but that element. A number of one batch is a seed of its own.
"""
import collections
import ctypes
import mmap
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

from kernels import BOUNDS, OK, ROOM, Ask, Kernel

KERNELS, CALLS = 40, 250        # of a batch, of a kernel by one engine
GUARD = 4096
# What a random contract is told that cannot hold, or divides by what is always 0.
REFUSALS = {"T0118", "T0400", "T0407", "T0113"}
CC = ["gcc", "-std=c11", "-O1", "-w", "-fPIC", "-shared", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]


def run(arguments, folder):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, cwd=folder, timeout=600)


class Batch:
    def __init__(self, compiler, seed, folder):
        self.compiler, self.seed, self.folder = compiler, seed, pathlib.Path(folder)
        self.rng = random.Random(seed)
        self.kernels = [Kernel(self.rng, i) for i in range(KERNELS)]
        self.told, self.failures, self.refused, self.statuses = set(), [], collections.Counter(), collections.Counter()

    def fail(self, kernel, what):
        if kernel and kernel.name in self.told:
            return
        self.told.add(kernel and kernel.name)
        self.failures.append(f"seed {self.seed}: {what}\n  {kernel.text() if kernel else ''}")

    def compile(self):
        """Drops what is refused for a reason; false where nothing can be called."""
        for _ in range(4):
            (self.folder / "k.tile").write_text("".join(k.text() + "\n" for k in self.kernels))
            done = run([self.compiler, "k.tile", "-w"], self.folder)
            if done.returncode == 0:
                return self.link()
            errors = re.findall(r"^k\.tile:(\d+):\d+: error: (.*?) \[(T\d+)\]", done.stderr, re.M)
            if done.returncode != 1 or not errors:
                self.fail(None, f"tilec ends with {done.returncode}: {done.stderr[:2000]}")
                return False
            for line, text, code in errors:
                self.judge_refusal(self.kernels[int(line) - 1], text, code)
            wrong = {int(line) - 1 for line, _, _ in errors}
            self.kernels = [k for i, k in enumerate(self.kernels) if i not in wrong]
        self.fail(None, "kernels are refused again and again: " + done.stderr[:1000])
        return False

    def judge_refusal(self, kernel, text, code):
        self.refused[code] += 1
        # Of T0123, "not allowed", only a launch of fewer blocks than none.
        if code not in REFUSALS and not text.startswith("a negative extent is not allowed"):
            self.fail(kernel, f"refused: {text} [{code}]")
        if "never" in text and "hold" in text:
            for _ in range(200):
                env = {**kernel.environment(), "far": False}
                try:
                    status, _ = kernel.expected(env)
                except Ask:
                    continue
                if status == OK:
                    return self.fail(kernel, f"{text}, yet they do for {env}")

    def link(self):
        steps = [["gcc", "-shared", "-o", "native.so", "k.o", "-Wl,-z,defs", "-lpthread"], [self.compiler, "k.tile", "-w", "--emit=c", "-o", "c.c"],
                 CC + ["-o", "c.so", "c.c", "-Wl,-z,defs", "-lpthread"]]
        for step in steps:
            done = run(step, self.folder)
            if done.returncode != 0:
                self.fail(None, f"{' '.join(map(str, step))}: {done.stderr[:1500]}")
                return False
        return True

    def calls(self):
        """(kernel, environment, status, index) of each call."""
        for kernel in self.kernels:
            for _ in range(CALLS):
                env = kernel.environment()
                env["far"] = self.rng.random() < 0.4
                try:
                    yield kernel, env, *kernel.expected(env)
                except Ask:
                    pass

    def judge(self):
        if not self.compile():
            return 0
        calls = list(self.calls())
        self.statuses.update(call[2] for call in calls)
        for engine in ("native", "c"):
            self.judge_engine(engine, calls)
        return 2 * len(calls)

    def judge_engine(self, engine, calls):
        """In a process of its own, as a contract that is believed and false may end it."""
        at = mmap.mmap(-1, 8)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            with os.fdopen(write, "w") as out:
                for line in self.differences(engine, calls, at):
                    out.write(line.replace("\n", " ") + "\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            for line in lines:
                number, what = line.rstrip().split(" ", 1)
                self.fail(calls[int(number)][0], f"{engine}: {what}")
        _, status = os.waitpid(child, 0)
        if status:
            kernel, env, expected, _ = calls[int.from_bytes(at[:8], "little")]
            by = signal.Signals(status & 127).name if status & 127 else status >> 8
            self.fail(kernel, f"{engine}: ends with {by} at {env}, wants status {expected}")

    def differences(self, engine, calls, at):
        library = ctypes.CDLL(str(self.folder / f"{engine}.so"))
        library.tile1_last_message.restype = ctypes.c_char_p
        clean = bytes([0xAA]) * (2 * GUARD + ROOM)
        memory = (ctypes.c_char * len(clean)).from_buffer_copy(clean)
        room = ctypes.addressof(memory) + GUARD
        for number, (kernel, env, status, index) in enumerate(calls):
            at[:8] = number.to_bytes(8, "little")
            got = getattr(library, kernel.name)(*kernel.arguments(env, room))
            wanted = clean
            if index is not None:
                wanted = clean[:GUARD + index] + b"\1" + clean[GUARD + index + 1:]
            if got != status:
                message = library.tile1_last_message().decode() if got else ""
                yield f"{number} status {got}, not {status}, at {env}: {message}"
            elif status == BOUNDS and memory[:GUARD] == clean[:GUARD] and memory[-GUARD:] == clean[-GUARD:]:
                pass  # what is computed behind a fault is some number
            elif memory.raw != wanted:
                places = [i - GUARD for i, (x, y) in enumerate(zip(memory.raw, wanted)) if x != y]
                yield f"{number} writes {places[:4]}, not {index}, at {env}"
            if memory.raw != clean:
                ctypes.memmove(memory, clean, len(clean))


def main():
    compiler, seed, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    made, failures, refused, statuses = 0, [], collections.Counter(), collections.Counter()
    while made < count and len(failures) < 20:
        with tempfile.TemporaryDirectory() as folder:
            batch = Batch(compiler, seed, folder)
            made += batch.judge()
        for failure in batch.failures:
            print(failure, flush=True)
        failures += batch.failures
        refused.update(batch.refused)
        statuses.update(batch.statuses)
        seed += 1
        if not made and batch.failures:
            break
    print(f"{made} calls, statuses {dict(statuses)}, kernels refused {dict(refused)}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
