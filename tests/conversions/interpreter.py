"""The interpreter as an engine of exhaust.py: `run:typed` is the program as it stands, `run:thread:MACHINE` what a machine's passes made of it."""
import json
import re
import subprocess

import numpy as np

from formats import FLOATS, U, bits_of, decode, encode_float, word


def numbers_of(t, words):
    """As JSON has them."""
    if t not in FLOATS:
        return words.view(np.dtype(f"int{bits_of(t)}")).tolist() if t[0] == "i" else words.tolist()
    negative, mantissa, exponent, kind = decode(t, words.ravel())
    x = np.ldexp(np.where(kind == 0, mantissa, U(0)).astype(np.float64), exponent.astype(np.int32))
    x = np.where(negative, -x, x).tolist()
    said = [v if k == 0 else "nan" if k == 2 else "-inf" if n else "inf" for v, k, n in zip(x, kind, negative)]
    return np.array(said, object).reshape(words.shape).tolist()


def words_of(t, numbers):
    if t not in FLOATS:
        return np.array([int(x) & (2 ** bits_of(t) - 1) for x in numbers], U).astype(word(t))
    return encode_float(t, decode("f64", np.array([float(x) for x in numbers]).view(np.uint64)))


class Interpreter:
    """Stands for a library: runs one kernel of the text."""
    def __init__(self, compiler, engine, folder, text):
        _, form, *machine = engine.split(":")
        self.source = folder / "run.tile"
        self.source.write_text(text)
        self.data, self.heads = folder / "data.json", dict(re.findall(r"export kernel (\w+)\((.*)\)", text))
        self.command = [compiler, "run", self.source, "-w", "--numeric=typed", f"--form={form}", f"--data={self.data}", "--print=json"]
        self.command += [f"--target={machine[0]}"] if machine else []

    def call(self, name, inputs, types):
        parameters = re.findall(r"(out )?(\w+): (\w+)\[(.*?)\]", self.heads[name])
        taken, made = [p for p in parameters if not p[0]], [p for p in parameters if p[0]]
        # Rows are nested, so that the dim follows.
        given = {p[1]: numbers_of(p[2], np.ascontiguousarray(x)) for p, x in zip(taken, inputs)}
        given |= {"N": len(inputs[0])} if "," not in taken[0][3] else {}
        self.data.write_text(json.dumps(given))
        done = subprocess.run(list(map(str, [*self.command, f"--kernel={name}"])), capture_output=True, text=True)
        said = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        if done.returncode or said.get("fault") or said.get("guard"):
            print(f"{name}: exit code {done.returncode}: {done.stdout[:300]}{done.stderr[:300]}")
            return done.returncode or 1, [np.zeros(0, word(t)) for t in types]
        return 0, [words_of(t, said["outputs"][p[1]]) for t, p in zip(types, made)]
