"""What pinning a schedule still gains: kernels as their sources have them, beside the same with one more thing pinned, in one process.

    tools/gpu/pins_build.py TILEC FOLDER, anywhere; then, where the GPU is: python3 FOLDER/pins.py FOLDER [WORD...]

Rows whose name holds one of the words, or all. All variants of a row are timed in turn (medians, random data), then the fastest once more
beside the one without a pin, as the least of many is less by chance alone: a line gives these two times, unpinned / pinned, the pin, the errors
of both against float64 and, behind, unpinned / pinned of every other variant. Variants whose error is another one, or that
fault, are named and count for nothing. Standard error names each one before it runs.
"""
import json
import pathlib
import sys

import torch

import check
from tensors import DEVICE

OTHER_ERROR = 1.2  # times the error without a pin


def judged(kernels, values, wanted, fault):
    """The greatest error of a run into poisoned outputs."""
    for key in wanted:
        values[key].view(torch.uint8).fill_(0xFF)
    for kernel in kernels:
        kernel.launch(values, fault)
    torch.cuda.synchronize()
    return max(check.error(values[key], exact) for key, exact in wanted.items())


def measure(folder, row):
    name, dims = row["export"], row["dims"]
    values, references = check.CASES[check.case_of(name)][0](name, dims)
    wanted = {key: exact() for key, exact in references.items()}
    fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)
    good, wrong = [], []
    for file, pin in row["variants"]:
        print(f"{file}: {pin or 'as it stands'}", file=sys.stderr, flush=True)  # which one, where it does not end
        kernels = check.load(folder / f"{file}.sm_90a.ptx")[name][0]
        error = judged(kernels, values, wanted, fault)
        if good and not (error <= OTHER_ERROR * good[0][2]) or fault.item():
            wrong.append(f"{pin} error {error:.1e} fault {fault.item()}")
            fault.zero_()
            continue
        good.append((pin, lambda kernels=kernels: [k.launch(values, fault) for k in kernels], error))
    del wanted
    times = check.medians_ms([run for _, run, _ in good])
    sizes = " ".join(f"{key}={value}" for key, value in dims.items() if key != "window")
    title = f"{row['group']}: {name} {sizes}"
    if len(good) > 1:
        best = min(range(1, len(good)), key=times.__getitem__)
        own, pinned = check.medians_ms([good[0][1], good[best][1]])
        print(f"{title}: {own:.4f} ms, pinned {pinned:.4f} ms, ratio {own / pinned:.3f}, {good[best][0]} errors {good[0][2]:.1e} {good[best][2]:.1e}")
    else:
        print(f"{title}: {times[0]:.4f} ms, nothing to pin")
    print("   " + " | ".join(f"{pin} {times[0] / time:.3f}" for (pin, _, _), time in zip(good[1:], times[1:])))
    for what in wrong:
        print(f"   WRONG {what}")
    sys.stdout.flush()


def main():
    folder, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
    torch.manual_seed(1)
    torch.zeros(1, device=DEVICE)  # makes the context that the driver's calls take
    for row in json.loads((folder / "pins.json").read_text()):
        if words and not any(word in f"{row['group']} {row['export']}" for word in words):
            continue
        torch.cuda.empty_cache()
        try:
            measure(folder, row)
        except torch.OutOfMemoryError:
            print(f"{row['export']} {row['dims']}: not enough memory", flush=True)


if __name__ == "__main__":
    main()
