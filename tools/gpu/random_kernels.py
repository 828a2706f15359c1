#!/usr/bin/env python3
"""Random kernels on a GPU, against numpy to the bit.

    random_kernels.py make TILEC FOLDER FIRST COUNT [MACHINE...]    here: text, data and what must come out
    random_kernels.py check FOLDER                                  there

The programs are those of tests/random; every number names one.
"""
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = HERE.parents[1] / "tests/random"


def make(tilec, folder, first, count, machines):
    sys.path.insert(0, str(RANDOM))
    import run
    from kernels import Kernel

    folder.mkdir(parents=True, exist_ok=True)
    for path in [*RANDOM.glob("*.py"), *HERE.glob("*.py")]:
        shutil.copy(path, folder)
    made = 0
    for number in range(first, first + count):
        rng = random.Random(number)
        kernel = Kernel(rng, f"k{number}")
        source = folder / f"{kernel.name}.tile"
        source.write_text(kernel.text)
        texts = [folder / f"{kernel.name}.{machine}.ptx" for machine in machines]
        for machine, text in zip(machines, texts):
            done = subprocess.run([tilec, source, "-w", "--emit=ptx", f"--target={machine}", "-o", text], capture_output=True, text=True)
            refused = [code for code in run.REFUSALS if code in done.stderr]
            if done.returncode not in (0, 1) or (done.returncode == 1 and not refused):
                sys.exit(f"{source}: exit code {done.returncode}\n{done.stderr}")
        source.unlink()
        if not all(text.exists() for text in texts):
            continue
        cases = {}
        for index, dims in enumerate(run.shapes(kernel, rng)):
            tensors = run.data(kernel, dims, rng.randrange(1 << 30))
            for t in kernel.tensors:
                cases[f"{index}.given.{t.name}.{t.type}"] = np.ascontiguousarray(run.encoded(t.type, tensors[t.name]))
            kernel.meaning(tensors, dims)
            for t in kernel.tensors:
                cases[f"{index}.wanted.{t.name}"] = tensors[t.name]
            for d in kernel.dims:
                cases[f"{index}.dim.{d}"] = np.int64(dims[d])
        np.savez_compressed(folder / f"{kernel.name}.npz", **cases)
        made += 1
    print(f"{made} of {count} programs for {' '.join(machines)}")


def check(folder):
    sys.path.insert(0, str(folder))
    import torch

    import check as gpu
    import run

    torch.zeros(1, device=gpu.DEVICE)
    fault = torch.zeros(1, device=gpu.DEVICE, dtype=torch.int64)
    good = bad = 0
    for path in sorted(folder.glob("*.ptx")):
        name = path.name.split(".")[0]
        cases = np.load(folder / f"{name}.npz")
        ((kernels,),) = gpu.load(path).values()
        print(f"     {path.name}", end="\r", flush=True)  # what runs, where one never ends
        problems = []
        for index in sorted({key.split(".")[0] for key in cases}):
            given = {key.split(".")[2]: (key.split(".")[3], cases[key]) for key in cases if key.startswith(f"{index}.given.")}
            values = {key.split(".")[2]: int(cases[key]) for key in cases if key.startswith(f"{index}.dim.")}
            dims = dict(values)
            for tensor, (_, bits) in given.items():
                # Of the elements' width, and shaped: the engine that copies boxes is told both.
                values[tensor] = torch.from_numpy(bits.view(f"i{bits.itemsize}").copy()).to(gpu.DEVICE)
            for kernel in kernels:
                kernel.launch(values, fault)
            torch.cuda.synchronize()
            for tensor, (element, bits) in given.items():
                got = run.decoded(element, values[tensor].cpu().numpy().view(bits.dtype))
                want = cases[f"{index}.wanted.{tensor}"]
                if not np.array_equal(got, want):
                    at = tuple(int(x) for x in np.argwhere(got != want)[0])
                    problems.append(f"{dims}: {tensor}{list(at)} is {got[at]}, not {want[at]}; {int((got != want).sum())} of {got.size} differ")
        if fault.item():
            problems.append(f"fault {fault.item():x}")
            fault.zero_()
        good, bad = good + (not problems), bad + bool(problems)
        if problems:
            print(f"BAD  {path.name}: {problems[0]}", flush=True)
    print(f"{good} agree, {bad} do not")
    sys.exit(bad > 0)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:] or ["sm_80", "sm_90a"])
    else:
        check(pathlib.Path(sys.argv[2]).resolve())
