#!/usr/bin/env python3
"""Assembles the kernels of every example and of tests/kernels for NVIDIA's GPUs, and holds what comes out to limits.

    gate.py TILEC PTXAS [MACHINE...]
    gate.py --record TILEC PTXAS            writes what comes out to limits.txt

Of each function: no message that its matrix products are held up, no access of the stack in a loop (which no limit allows), no more than
limits.txt has for it of what RISES says, and no less of what FALLS says; a new function has no stack and no release to a cluster in a
loop. Of each export of an example, run in the interpreter as the machine's
threads run it: no more bank conflicts than limits.txt has. What COUNTS names must be met to the instruction. Exit code 1: something
is over; what has become better is told too, so that the limit follows.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import machine_code
import text_code

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).with_name("limits.txt")
HEAD = """# What gate.py found when it was last told to --record: a line for each function and machine, and one for each export of an example.
# What is not named is 0. registers and stack (bytes) are the assembler's; that no instruction of the image loads from the stack or
# stores to it in a loop holds without a limit; shared are bytes; matrix, boxes, copies and barriers are instructions of the text, cluster_releases
# those in loops that tell other blocks of a cluster of writes (all of them: of new barriers); conflicts are transactions of shared memory beyond the least, in the interpreter.
"""

# --- more of it is worse, and less of it is
RISES = ("registers", "stack", "shared", "cluster_releases", "barriers", "conflicts")
FALLS = ("matrix", "boxes", "copies")
TEXT = {"matrix": r"\bwgmma\.mma_async|\bmma\.sync", "boxes": r"cp\.(?:reduce\.)?async\.bulk\.(?:tensor|shared|global|prefetch)", "copies": r"cp\.async\.c[ag]",
        "barriers": r"\bbar(?:rier)?(?:\.cta)?\.(?:sync|arrive|red)|mbarrier\.(?:try_wait|test_wait)"}

# --- instructions in the text of a kernel, by machine and function: (what to look for, how often)
GROUP, WARP, ROWS, LANES, MEETING = r"wgmma\.mma_async", r"\bmma\.sync", r"ldmatrix", r"cp\.async\.c[ag]", r"bar\.sync"
BOXES, BUDGETS, WIDE = r"cp\.async\.bulk\.tensor", r"setmaxnreg", r"st\.global\.v4"
AWAITED, TAKEN, FENCED = r"griddepcontrol\.wait; griddepcontrol\.launch_dependents;", r"atom\.relaxed\.gpu", r"fence\.proxy\.async\.shared::cta"
STORED, ADDED, TURNED, VECTORS = r"cp\.async\.bulk\.tensor\.2d\.global", r"cp\.reduce\.async\.bulk", r"movmatrix", r"red\.relaxed\.gpu\.global\.add\.v4"
COUNTS = {("sm_80", "gemm_relu_f16_0_launch0_sm_80"): {WARP: 128, ROWS: 32, LANES: 24, MEETING: 1},
          ("sm_90a", "gemm_relu_f16_0_launch0_sm_90a"): {GROUP: 12, WARP: 0, ROWS: 0, BOXES: 36, LANES: 0, BUDGETS: 2, MEETING: 1, "shfl": 1, WIDE: 0,  # four pieces, late and not
                                                         STORED: 8, r"fence\.proxy": 9, r"multicast::cluster": 8, "mapa": 1, r"barrier\.cluster\.arrive": 2},
          ("sm_80", "gemm_relu_f8e4m3_0_launch0_sm_80"): {WARP: 64, ROWS: 24},  # as f16, which the copies make of it
          ("sm_80", "gemm_nt_tf32_0_launch0_sm_80"): {WARP: 64, ROWS: 24, LANES: 16},
          ("sm_90a", "gemm_nt_tf32_0_launch0_sm_90a"): {GROUP: 4, WARP: 0, ROWS: 0, BOXES: 14, BUDGETS: 2},  # of which four store
          ("sm_90a", "gemm_i8_f16_0_launch0_sm_90a"): {GROUP: 4, WARP: 0},
          ("sm_90a", "gemm_relu_i8_0_launch0_sm_90a"): {GROUP: 0, WARP: 32, r"fence\.proxy": 1},
          ("sm_90a", "box_store_f16_0_launch0_sm_90a"): {STORED: 1}, ("sm_90a", "stored_again_0_launch0_sm_90a"): {STORED: 0},
          ("sm_90a", "add_tile_f32_0_launch0_sm_90a"): {VECTORS: 4}, ("sm_90a", "add_box_bf16_0_launch0_sm_90a"): {ADDED: 1},
          ("sm_80", "turned_f16_0_launch0_sm_80"): {TURNED: 16}, ("sm_90a", "turned_bf16_0_launch0_sm_90a"): {TURNED: 16},
          ("sm_80", "attention_f16_0_launch0_sm_80"): {WARP: 256, ROWS: 136, LANES: 32, MEETING: 3, "shfl": 41, WIDE: 8},
          ("sm_90a", "attention_f16_0_launch0_sm_90a"): {GROUP: 48, WARP: 0, ROWS: 0, BOXES: 12, LANES: 0, BUDGETS: 2, MEETING: 1, "shfl": 26, WIDE: 8,
                                                           r"ex2\.approx": 198, AWAITED: 1, TAKEN: 0},
          ("sm_90a", "attention_causal_f16_0_launch0_sm_90a"): {AWAITED: 1, TAKEN: 1},
          ("sm_90a", "softmax_f32_0_launch0_sm_90a"): {AWAITED: 1},
          ("sm_90a", "flash_decoding_f16_0_launch0_sm_90a"): {FENCED: 4}}  # of slots that lanes read, too
# Functions that go to the stack in a loop, known and not yet mended: on sm_80 tiles of 8-bit floats that are as wide as sm_90a wants them;
# on sm_90a by the first schedule, which is the text's: where the assembler is at hand, others are tried (docs/architecture.md).
KNOWN_STACKED = {("sm_80", "gemm_fp8_bf16"), ("sm_80", "gemm_fp8_f16"), ("sm_90a", "attention_d256_f16"), ("sm_90a", "attention_d128_bf16"),
                 ("sm_90a", "attention_backward_causal_f16"), ("sm_90a", "attention_backward_ordered_f16"),
                 ("sm_80", "attention_backward_d128_bf16"), ("sm_90a", "attention_backward_d128_bf16"), ("sm_90a", "attention_backward_f16"),
                 ("sm_90a", "mla_decode_f16"), ("sm_90a", "mla_decode_bf16"), ("sm_90a", "gemm_relu_f8e4m3")}

HELD_UP = re.compile(r"\((C75\d\d)\)[^\n]*in (?:the )?function '(\w+)'")
FRAME = re.compile(r"Function properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n[^\n]*Used (\d+) registers")
SHARED = re.compile(r"^// (\w+): .*?; (\d+) bytes of shared memory", re.M)

sys.path.insert(0, str(ROOT / "tests/agreement"))
from agree import SHAPES  # noqa: E402  that examples are interpreted with; of those the second and the fourth here, an odd and an even one


def bodies(text):
    """The text of each function."""
    return dict(re.findall(r"\.entry (\w+)\((.*?)\n}\n", text, re.S))


def stacked(machine, in_loops):
    """What is wrong with functions that go to the stack in a loop: no limit allows it, but for those that are known to."""
    return [f"{machine} {name}: {count} instructions load from the stack or store to it in a loop" for name, count in sorted(in_loops.items())
            if count and (machine, re.sub(r"_\d+_launch\d+_.*", "", name)) not in KNOWN_STACKED]


def assembled(tilec, ptxas, machine, source):
    """What was counted of each function, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        text, image = pathlib.Path(folder) / "k.ptx", pathlib.Path(folder) / "k.cubin"
        made = subprocess.run([tilec, source, "-w", f"--target={machine}", "--emit=ptx", "-o", text], capture_output=True, text=True)
        if made.returncode:
            return {}, [f"{source.name} for {machine}: exit code {made.returncode}: {made.stderr.splitlines()[0]}"]
        said = subprocess.run([ptxas, "-v", f"-arch={machine}", text, "-o", image], capture_output=True, text=True)
        if said.returncode:
            return {}, [f"{source.name} for {machine}: {said.stderr.strip()}"]
        spelled = text.read_text()
        in_loops = machine_code.stack_accesses_in_loops(image.read_bytes(), int(re.sub(r"\D", "", machine)))
    functions, shared = bodies(spelled), dict(SHARED.findall(spelled))
    counts, problems = {}, [f"{machine} {name}: matrix products are held up ({code})" for code, name in sorted(set(HELD_UP.findall(said.stderr)))]
    problems += stacked(machine, in_loops)
    for name, frame, stores, loads, registers in FRAME.findall(said.stderr):
        counts[name] = {"registers": int(registers), "stack": max(int(frame), int(stores), int(loads)), "shared": int(shared.get(name, 0)),
                        "cluster_releases": text_code.cluster_releases_in_loops(functions[name])} | {what: len(re.findall(how, functions[name])) for what, how in TEXT.items()}
        for what, number in COUNTS.get((machine, name), {}).items():
            found = len(re.findall(what, functions[name]))
            if found != number:
                problems.append(f"{machine} {name}: {found} times {what}, not {number}")
    if set(counts) != set(functions):
        problems.append(f"{source.name} for {machine}: the assembler tells of {len(counts)} functions, the text has {len(functions)}")
    return {f"{source.stem}/{name}": counted for name, counted in counts.items()}, problems


def interpreted(tilec, machine, source, shape):
    """The bank conflicts of each export of an example."""
    command = [tilec, "run", source, "-w", f"--target={machine}", "--form", "thread", "--counters"]
    for dim in shape.split():
        command += ["--dim", dim]
    ran = subprocess.run(command, capture_output=True, text=True)
    counts, name = {}, ""
    for line in ran.stdout.splitlines():
        if found := re.search(r"^lane operations .* bank conflicts (\d+)", line):
            # An export's instances follow each other: the worst is what counts.
            export = f"{source.stem}/{name}({','.join(shape.split())})"
            counts[export] = {"conflicts": max(int(found[1]), counts.get(export, {}).get("conflicts", 0))}
        name = re.match(r"\w*", line)[0]
    if ran.returncode or not counts:
        return {}, [f"{source.name} for {machine}, interpreted: exit code {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-300:]}"]
    return counts, []


def read_record():
    limits = {}
    for line in RECORD.read_text().splitlines():
        if not line.startswith("#"):
            machine, name, *pairs = line.split()
            limits[machine, name] = {key: int(value) for key, value in (pair.split("=") for pair in pairs)}
    return limits


def write_record(found):
    lines = [" ".join([machine, name] + [f"{key}={value}" for key, value in counts.items() if value])
             for (machine, name), counts in sorted(found.items()) if "registers" in counts or counts["conflicts"]]
    RECORD.write_text(HEAD + "".join(line + "\n" for line in lines))


def compared(found, limits):
    """What is over its limit; what is better is printed."""
    problems = []
    for (machine, name), counts in sorted(found.items()):
        limit = limits.get((machine, name), {})
        if not limit and "registers" in counts:
            problems.append(f"{machine} {name}: no limits are recorded for it; --record does")
        for what, number in counts.items():
            allowed = limit.get(what, 0)
            if number == allowed:
                continue
            is_worse = number > allowed if what in RISES else number < allowed
            words = f"{machine} {name}: {what} {number}, {allowed} {'is the limit' if is_worse else 'was recorded: the limit may follow'}"
            if is_worse:
                problems.append(words)
            else:
                print(words)
    return problems


def main():
    is_record = "--record" in sys.argv
    tilec, ptxas, *machines = [word for word in sys.argv[1:] if word != "--record"]
    machines = ["sm_80", "sm_89", "sm_90a"] if is_record or not machines else machines
    examples = sorted(ROOT.glob("examples/*/*.tile"))
    sources = examples + sorted(ROOT.glob("tests/kernels/*.tile")) + sorted(ROOT.glob("tools/gpu/*.tile"))
    work = [(assembled, tilec, ptxas, machine, source) for source in sources for machine in machines]
    work += [(interpreted, tilec, machine, source, shape) for source in examples for machine in machines if machine != "sm_89"
             for shape in (SHAPES[source.stem][1], SHAPES[source.stem][3])]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda job: (next(m for m in machines if m in job), *job[0](*job[1:])), work))
    found = {(machine, name): counts for machine, all_counts, _ in results for name, counts in all_counts.items()}
    problems = [problem for _, _, its in results for problem in its]
    if is_record:
        write_record(found)
    else:
        problems += compared(found, read_record())
    kernels = sum("registers" in counts for counts in found.values())
    if kernels + sum("conflicts" in counts for counts in found.values()) != sum(len(all_counts) for _, all_counts, _ in results):
        problems.append("two functions have one name: the limits cannot tell them apart")
    print("\n".join(problems + [f"{kernels} kernels assembled, {len(found) - kernels} interpreted, {len(problems)} problems"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
