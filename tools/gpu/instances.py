"""How well a call chooses among the instances of a product: all of them, timed beside each other and beside what the compiler expects.

    python3 FOLDER/instances.py FILE.ptx EXPORT MxNxK [MxNxK...]

FILE.ptx is of tools/gpu/build, or of `tilec --emit=ptx` with a .cubin beside it. Of each shape a line for each instance, fastest first: its time
in microseconds (the median of interleaved samples, random data), the expected one, the ratio reference / own (PyTorch's product), its
number among the export's, `*` at the one that a call runs.
"""
import pathlib
import sys

import torch

import check
import table
from shapes import product_dims
from tensors import DEVICE


def runs_of(instances, values, fault):
    return [lambda kernels=kernels: [k.launch(values, fault) for k in kernels] for kernels in instances]


def main():
    path, name, shapes = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    torch.manual_seed(1)
    torch.zeros(1, device=DEVICE)
    instances = check.load(path)[name]
    reference = table.turned_product if "_nt" in name else table.product
    fault = torch.zeros(1, device=DEVICE, dtype=torch.int64)
    for shape in shapes:
        dims = product_dims(int(n) for n in shape.split("x"))
        values, _ = check.CASES[check.case_of(name)][0](name, dims)
        *own, other = check.medians_ms(runs_of(instances, values, fault) + [lambda: reference(values)])
        expected = [check.expected_clocks(kernels, dims) for kernels in instances]
        chosen = instances.index(check.instance_for(instances, dims))
        print(f"== {name} {shape}: reference {other * 1e3:.2f} us, chosen is {own[chosen] / min(own):.2f} of the least, faults {fault.item()}", flush=True)
        for i in sorted(range(len(own)), key=own.__getitem__):
            print(f"  {own[i] * 1e3:8.2f} us, expected {expected[i] / table.GIGAHERTZ / 1e3:8.2f}, ratio {other / own[i]:.3f}, {i}{'*' * (i == chosen)}", flush=True)


if __name__ == "__main__":
    main()
