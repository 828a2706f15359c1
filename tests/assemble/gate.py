#!/usr/bin/env python3
"""Assembles the kernels of every example and of tests/kernels for NVIDIA's GPUs, and holds what comes out to limits.

    gate.py TILEC PTXAS [MACHINE...]

Of each kernel: no stack frame and no spill beyond LIMITS, no message that matrix products were serialised, and, of those that COUNTS
names, so many instructions of a kind in its text. Exit code 1: something is over; what has become better is told too, so
that the limit follows.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]

# --- bytes of stack that a kernel may have, by machine and function (release 13.0); what is not named here has none
LIMITS = {("sm_89", "attention_f16_0_launch0_sm_89"): 40, ("sm_89", "attention_causal_f16_0_launch0_sm_89"): 48,
          ("sm_80", "attention_backward_d128_bf16_0_launch1_sm_80"): 8,
          ("sm_80", "gemm_fp8_blocks_f16_0_launch0_sm_80"): 112, ("sm_80", "gemm_fp8_blocks_bf16_0_launch0_sm_80"): 112,
          ("sm_80", "attention_backward_causal_f16_0_launch1_sm_80"): 24, ("sm_80", "linear_attention_f16_0_launch0_sm_80"): 16,
          ("sm_90a", "grouped_gemm_f16_0_launch0_sm_90a"): 8, ("sm_90a", "grouped_gemm_bf16_0_launch0_sm_90a"): 8,
          ("sm_80", "rows_wide_0_launch0_sm_80"): 144, ("sm_89", "rows_wide_0_launch0_sm_89"): 120, ("sm_90a", "rows_wide_0_launch0_sm_90a"): 120,
          ("sm_80", "halves_f16_0_launch0_sm_80"): 256, ("sm_89", "halves_f16_0_launch0_sm_89"): 256, ("sm_90a", "halves_f16_0_launch0_sm_90a"): 256,
          ("sm_90a", "halves_odd_0_launch0_sm_90a"): 24}

# --- instructions in the text of a kernel, by machine and function: (what to look for, how often)
GROUP, WARP, ROWS, LANES, MEETING = r"wgmma\.mma_async", r"\bmma\.sync", r"ldmatrix", r"cp\.async\.c[ag]", r"bar\.sync"
BOXES, BUDGETS, WIDE = r"cp\.async\.bulk\.tensor", r"setmaxnreg", r"st\.global\.v4"
COUNTS = {("sm_80", "gemm_relu_f16_0_launch0_sm_80"): {WARP: 128, ROWS: 32, LANES: 24, MEETING: 2},
          ("sm_90a", "gemm_relu_f16_0_launch0_sm_90a"): {GROUP: 4, WARP: 0, ROWS: 0, BOXES: 10, LANES: 48, BUDGETS: 2, MEETING: 2, "shfl": 64, WIDE: 16,
                                                         r"fence\.proxy": 1},
          ("sm_80", "gemm_relu_f8e4m3_0_launch0_sm_80"): {WARP: 64, ROWS: 24},  # as f16, which the copies make of it
          ("sm_80", "gemm_nt_tf32_0_launch0_sm_80"): {WARP: 64, ROWS: 24, LANES: 16},
          ("sm_90a", "gemm_nt_tf32_0_launch0_sm_90a"): {GROUP: 4, WARP: 0, ROWS: 0, BOXES: 4, BUDGETS: 2},
          ("sm_90a", "gemm_i8_f16_0_launch0_sm_90a"): {GROUP: 4, WARP: 0},
          ("sm_90a", "gemm_relu_i8_0_launch0_sm_90a"): {GROUP: 0, WARP: 32, r"fence\.proxy": 0},
          ("sm_80", "attention_f16_0_launch0_sm_80"): {WARP: 256, ROWS: 136, LANES: 32, MEETING: 3, "shfl": 41, WIDE: 8},
          ("sm_90a", "attention_f16_0_launch0_sm_90a"): {GROUP: 16, WARP: 0, ROWS: 0, BOXES: 8, LANES: 64, BUDGETS: 2, MEETING: 2, "shfl": 41, WIDE: 8,
                                                           r"ex2\.approx": 66}}

SERIALISED = re.compile(r"\(C75\d\d\)[^\n]*in function '(\w+)'")
FRAME = re.compile(r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def bodies(text):
    """The text of each function."""
    return dict(re.findall(r"\.entry (\w+)\((.*?)\n}\n", text, re.S))


def problems_of(tilec, ptxas, machine, source):
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "k.ptx"
        made = subprocess.run([tilec, source, "-w", f"--target={machine}", "--emit=ptx", "-o", text], capture_output=True, text=True)
        if made.returncode:
            return 0, [f"{source.name} for {machine}: exit code {made.returncode}: {made.stderr.splitlines()[0]}"]
        said = subprocess.run([ptxas, "-v", f"-arch={machine}", text, "-o", text.with_suffix(".cubin")], capture_output=True, text=True)
        if said.returncode:
            return 0, [f"{source.name} for {machine}: {said.stderr.strip()}"]
        functions = bodies(text.read_text())
    problems = [f"{machine} {name}: products are serialised" for name in sorted(set(SERIALISED.findall(said.stderr)))]
    frames = {name: max(int(frame), int(stores), int(loads)) for name, frame, stores, loads in FRAME.findall(said.stderr)}
    for name, size in frames.items():
        limit = LIMITS.get((machine, name), 0)
        if size > limit:
            problems.append(f"{machine} {name}: {size} bytes of stack, {limit} are allowed")
        elif size < limit:
            print(f"{machine} {name}: {size} bytes of stack, {limit} are allowed: the limit may follow")
    for (of, name), counts in COUNTS.items():
        if of != machine or name not in functions:
            continue
        for what, number in counts.items():
            found = len(re.findall(what, functions[name]))
            if found != number:
                problems.append(f"{machine} {name}: {found} times {what}, not {number}")
    if set(frames) != set(functions):
        problems.append(f"{source.name} for {machine}: the assembler tells of {len(frames)} functions, the text has {len(functions)}")
    return len(frames), problems


def main():
    tilec, ptxas, machines = sys.argv[1], sys.argv[2], sys.argv[3:] or ["sm_80", "sm_89", "sm_90a"]
    sources = sorted(ROOT.glob("examples/*/*.tile")) + sorted(ROOT.glob("tests/kernels/*.tile")) + sorted(ROOT.glob("tools/gpu/*.tile"))
    work = [(machine, source) for source in sources for machine in machines]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda job: problems_of(tilec, ptxas, *job), work))
    problems = [p for _, found in results for p in found]
    print("\n".join(problems + [f"{sum(count for count, _ in results)} kernels assembled, {len(problems)} problems"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
