#!/usr/bin/env python3
"""Makes what `pins.py` times: kernels of the table of docs/performance.md as their sources have them, and with one more thing pinned.

    pins_build.py TILEC FOLDER [WORD...]

Rows whose name holds one of the words, or all. Of each row the instance that a call of its dims takes is compiled by itself, then again
under a schedule of one line, or of the lines that only make sense together. The lines are those that tilec inferred (`--emit=schedule`),
each with other numbers in it, and some that it left out; none are made for layouts. What is refused, and what changes nothing, is named and left out. FOLDER gets
NAME.sm_90a.cubin, the head of its text as NAME.sm_90a.ptx, and pins.json, which says what is what. Needs ptxas, no GPU.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from shapes import clocks_of, product_dims, sequences

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "--target=sm_90a"


ROWS = [  # (group, example, export, dims)
    *(("gemm large", "gemm_layouts", "gemm_nn_f16", product_dims(shape)) for shape in ((4096, 4096, 4096), (8192, 8192, 8192))),
    *(("gemm large", "gemm_layouts", "gemm_nt_f16", product_dims(shape)) for shape in ((4096, 4096, 4096), (8192, 28672, 8192))),
    *(("gemm odd", "gemm_layouts", name, product_dims((3000, 5000, 7000))) for name in ("gemm_nn_f16", "gemm_nt_f16")),
    *(("gemm small", "gemm_layouts", "gemm_nn_f16", product_dims((n, n, n))) for n in (1024, 2048)),
    *(("gemm skinny", "gemm_layouts", "gemm_nt_f16", product_dims((m, 7168, 2048))) for m in (16, 128)),
    ("fp8", "gemm_scaled", "gemm_fp8_bf16", product_dims((8192, 8192, 8192))),
    *(("attention", "attention_forms", "attention_d64_f16", sequences(n, 64)) for n in (1024, 4096)),
    *(("attention", "attention", "attention_causal_d64_f16", sequences(n, 64)) for n in (1024, 4096)),
    *(("attention", "attention", name, sequences(n, 128)) for name in ("attention_f16", "attention_causal_f16") for n in (1024, 4096)),
    ("attention", "attention_forms", "attention_d256_f16", sequences(4096, 256)),
    ("attention backward", "attention_backward", "attention_backward_d128_bf16", sequences(4096, 128)),
    ("attention backward", "attention_backward", "attention_backward_f16", sequences(4096, 64)),
    ("decode", "mla_decode", "mla_decode_bf16", dict(B=128, H=128, L=8192, full=1)),
    *(("rows", name, f"{name}_long_bf16", dict(M=16384, N=8192)) for name in ("softmax", "rms_norm", "layer_norm")),
    *(("rows", "transpose", name, dict(M=8192, N=8192)) for name in ("transpose_f32", "transpose_f16")),
]


def with_instance(text, name, number):
    """The text with one export, of one instance; and whether that is none of the text's, but the copy of the first in wider clusters."""
    text = re.sub(r"^export (kernel )", r"\1", text, flags=re.M)
    instances = re.search(rf"^export ([^;{{]*?) as {name};", text, re.M)[1].split("|")
    text = re.sub(r"^export \w[^;{]*?;", "", text, flags=re.M)
    is_copy = number >= len(instances)
    return f"{text}\nexport {instances[0 if is_copy else number].strip()} as {name};\n", is_copy


def cluster_of(heads, name, number):
    """The line that pins an instance's cluster, as the head of its text has it."""
    shape = re.search(rf"^// {name}_{number}_launch0_\S+: .*?; clusters of ([\dx]+)", heads, re.M)[1]
    return f"cluster ({shape.replace('x', ', ')});"


def taken(text, dims):
    """The number of the instance that a call takes: of the least clocks, as heads of texts have them."""
    clocks = {}
    for number, formula in re.findall(r"^// \S+_(\d+)_launch\d+_\S+: .*?; slots [^\n]*?(?:; clocks ([^\n]*))?$", text, re.M):
        clocks[int(number)] = clocks.get(int(number), 0) + (clocks_of(formula, dims) if formula else math.inf)
    return min(clocks, key=clocks.get)


def clusters(lines):
    if any("pipeline" in line for line in lines):
        yield from (f"cluster {shape};" for shape in ("(1, 1)", "(2, 1)", "(1, 2)", "(2, 2)", "(2)", "(2, 1, 1)"))


def rasters(lines):
    if any("column" in line for line in lines):
        yield from (f"raster column({n});" for n in (4, 16, 32))
    if any("reversed" in line for line in lines):
        yield "raster forward;"


def pipelines(lines):
    rings = [line for line in lines if line.startswith("pipeline")]
    if not rings:
        return
    for step in (-1, 1):
        yield " ".join(re.sub(r"depth (\d+)", lambda m: f"depth {max(2, int(m[1]) + step)}", ring) for ring in rings)
    for count in (0, 1):
        yield " ".join(re.sub(r"(depth \d+)(, in_flight \d+)?", rf"\1, in_flight {count}", ring) for ring in rings)


def registers(lines):
    """More for one role, less for the other: together they have what a block has."""
    roles = [re.fullmatch(r"(role \w+: warps )(\d+)(, registers )(\d+)( .*)", line) for line in lines if line.startswith("role")]
    if len(roles) != 2 or None in roles:
        return
    roles.sort(key=lambda role: "rest" not in role[0])
    groups = int(roles[0][2]) // int(roles[1][2])
    for step in (8, -8, -16, -24):
        counts = [int(roles[0][4]) + step, max(24, int(roles[1][4]) - groups * step)]
        yield " ".join(f"{role[1]}{role[2]}{role[3]}{count}{role[5]}" for role, count in zip(roles, counts))


def places(lines):
    for line in lines:
        if place := re.match(r"place (\w+): stage (\d)", line):
            yield f"place {place[1]}: stage {1 - int(place[2])};"


def others(lines):
    if "persistent;" not in lines:
        yield "persistent;"


RULES = (clusters, rasters, pipelines, registers, places, others)


def compiled(tilec, source, text, output):
    """Into OUTPUT.ptx and .cubin; the text, or what is said against it as a second value."""
    source.write_text(text)
    for form in ("ptx", "cubin"):
        done = subprocess.run([tilec, source, "-w", TARGET, f"--emit={form}", "-o", f"{output}.{form}"], capture_output=True, text=True)
        if done.returncode:
            return "", done.stderr.splitlines()[0]
    return pathlib.Path(f"{output}.ptx").read_text(), ""


def keep(text, output):
    """The head alone: what launches ask for, and whether they may begin early."""
    head = [line for line in text.splitlines() if line.startswith("// ")]
    pathlib.Path(f"{output}.ptx").write_text("\n".join(head + ["// griddepcontrol"] * ("griddepcontrol" in text)) + "\n")


def schedule_of(tilec, source):
    """Its first line, and the others."""
    schedule = subprocess.run([tilec, source, "-w", TARGET, "--emit=schedule", "-o", "-"], check=True, capture_output=True, text=True).stdout
    head, *lines = [line.strip() for line in schedule.strip().splitlines()]
    return head, lines


def variants(tilec, scratch, folder, example, name, number, heads):
    """[(file, pin)] of an instance, the first one without a pin."""
    original = (ROOT / f"examples/{example}/{example}.tile").read_text()
    (text, is_copy), source, stem = with_instance(original, name, number), scratch / f"{name}.tile", f"{name}-{number}"
    source.write_text(text)
    head, lines = schedule_of(tilec, source)
    own = cluster_of(heads, name, number) if is_copy else ""

    def pinned(pin):
        lines = " ".join(line for line in (own if not pin.startswith("cluster") else "", pin) if line)
        return f"{text}\n{head} {lines} }}\n" if lines else text

    code, fault = compiled(tilec, source, pinned(""), folder / f"{stem}.sm_90a")
    assert code, fault
    lines = schedule_of(tilec, source)[1]
    keep(code, folder / f"{stem}.sm_90a")
    made, seen = [(stem, "")], {code}
    for pin in [pin for rule in RULES for pin in rule(lines) if pin not in lines]:
        file = f"{stem}-{len(made)}"
        code, fault = compiled(tilec, source, pinned(pin), folder / f"{file}.sm_90a")
        if fault or code in seen:
            print(f"  {stem}, {pin}: {fault.split('error', 1)[-1] or 'the same code'}", flush=True)
            for form in ("ptx", "cubin"):
                (folder / f"{file}.sm_90a.{form}").unlink(missing_ok=True)
            continue
        keep(code, folder / f"{file}.sm_90a")
        seen.add(code)
        made.append((file, pin))
    print(f"{stem}: {len(made) - 1} pins", flush=True)
    return made


def main():
    tilec, folder, words = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    rows, known = [], {}
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for group, example, name, dims in ROWS:
            if words and not any(word in f"{group} {name}" for word in words):
                continue
            all_of = scratch / "all.ptx"
            subprocess.run([tilec, ROOT / f"examples/{example}/{example}.tile", "-w", "--tries", "1", TARGET, "--emit=ptx", "-o", all_of], check=True)
            own = "\n".join(line for line in all_of.read_text().splitlines() if line.startswith(f"// {name}_"))
            number = taken(own, dims)
            if (name, number) not in known:
                known[name, number] = variants(tilec, scratch, folder, example, name, number, own)
            rows.append(dict(group=group, export=name, dims=dims, variants=known[name, number]))
    (folder / "pins.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
