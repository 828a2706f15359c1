#!/usr/bin/env python3
"""Runs every example in the interpreter after every pass: agree.py TILEC MACHINE...

On a machine with asynchronous operations these complete once as late and once as early as they may, in one compilation.
"""
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

ASYNCHRONOUS = {"model", "model-no-roles"}
TEXT_MACHINE = "x86-64"

# Five shapes each, at least two that are odd in every extent; sizes that interpret in a moment.
ROWS_AND_COLUMNS = ["M=1 N=1", "M=33 N=257", "M=8 N=512", "M=9 N=1032", "M=0 N=7"]
PRODUCTS = ["M=1 N=1 K=1", "M=33 N=129 K=65", "M=130 N=8 K=100", "M=64 N=64 K=64", "M=5 N=7 K=0"]
SHAPES = {
    "vector_add": ["N=1", "N=33", "N=4096", "N=4097", "N=0"],
    "gemm": PRODUCTS,
    "gemm_layouts": ["M=1 N=1 K=1", "M=33 N=65 K=33", "M=129 N=8 K=15", "M=64 N=64 K=64", "M=5 N=7 K=0"],
    "gemv": ["M=1 N=1 K=1", "M=9 N=33 K=257", "M=15 N=65 K=513", "M=16 N=32 K=256", "M=5 N=7 K=0"],
    "grouped_gemm": ["M=1 N=1 K=1 G=1", "M=9 N=33 K=65 G=3", "M=65 N=7 K=33 G=5", "M=16 N=64 K=64 G=2", "M=5 N=7 K=0 G=1"],
    "gemm_scaled": ["M=1 N=1 K=1", "M=9 N=33 K=129", "M=129 N=7 K=33", "M=16 N=64 K=128", "M=5 N=7 K=0"],
    "split_k": PRODUCTS,
    "batched_gemm": ["Z=2 " + shape for shape in PRODUCTS],
    "softmax": ROWS_AND_COLUMNS,
    "rms_norm": ROWS_AND_COLUMNS,
    "layer_norm": ROWS_AND_COLUMNS,
    "attention": ["B=1 H=1 G=1 S=1 L=1", "B=1 H=2 G=1 S=33 L=65", "B=1 H=1 G=1 S=129 L=131", "B=2 H=2 G=2 S=16 L=16",
                  "B=1 H=3 G=3 S=7 L=130"],
    "attention_forms": ["B=1 H=1 G=1 S=1 L=1 N=1 E=2 window=1", "B=1 H=2 G=1 S=5 L=65 N=7 E=3 window=9", "B=1 H=1 G=1 S=33 L=31 N=65 E=5 window=40",
                        "B=1 H=2 G=2 S=16 L=64 N=64 E=2 window=64", "B=1 H=1 G=1 S=9 L=0 N=0 E=1 window=3"],
    "flash_decoding": ["B=1 H=1 G=1 L=1 splits=1", "B=3 H=5 G=1 L=7 splits=3", "B=1 H=6 G=3 L=129 splits=2", "B=2 H=16 G=1 L=64 splits=1", "B=1 H=2 G=2 L=0 splits=3"],
    "mla_decode": ["B=1 H=1 L=1", "B=3 H=5 L=7", "B=1 H=17 L=33", "B=1 H=16 L=16", "B=1 H=3 L=0"],
    "attention_backward": ["B=1 H=1 G=1 S=1 L=1", "B=1 H=2 G=1 S=5 L=33", "B=1 H=1 G=1 S=33 L=7", "B=1 H=2 G=2 S=16 L=16", "B=1 H=1 G=1 S=0 L=5"],
    "linear_attention": ["B=1 H=1 S=1 N=1", "B=1 H=3 S=33 N=7", "B=1 H=1 S=129 N=33", "B=2 H=2 S=64 N=64", "B=1 H=2 S=0 N=5"],
    "transpose": ["M=1 N=1", "M=33 N=65", "M=64 N=32", "M=7 N=129", "M=0 N=3"],
    "histogram": ["N=1", "N=255", "N=1000", "N=4097", "N=0"],
}


def agrees(tilec, machine, name, shape):
    completion = "both" if machine in ASYNCHRONOUS else "late"
    command = [tilec, "run", "--after-each", f"--target={machine}", f"--completion={completion}", EXAMPLES / name / f"{name}.tile"]
    # What the text means hangs on no machine.
    command += [] if machine == TEXT_MACHINE else ["--form=typed"]
    for dim in shape.split():
        command += ["--dim", dim]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    # An instance that the machine has too little memory for is left out, where others are there; what takes long is not judged as text.
    runs = [line for line in lines if ": left out: " not in line and ": not judged: it takes too many steps" not in line]
    if done.returncode == 0 and runs and all("agrees" in line for line in runs):
        return True
    print(f"{name} {shape} on {machine}, {completion}: exit code {done.returncode}")
    print("".join(f"  {line}\n" for line in lines + done.stderr.splitlines() if "agrees" not in line), end="", flush=True)
    return False


def main():
    tilec, machines = sys.argv[1], sys.argv[2:]
    missing = {p.parent.name for p in EXAMPLES.glob("*/*.tile")} - SHAPES.keys()
    assert not missing, f"examples without shapes: {missing}"
    results = [
        agrees(tilec, machine, name, shape)
        for machine in machines
        for name, shapes in SHAPES.items()
        for shape in shapes
    ]
    print(f"{sum(results)} runs agree, {len(results) - sum(results)} do not")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
