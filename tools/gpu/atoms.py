#!/usr/bin/env python3
"""Every row of the tables of matrix instructions on a GPU: a kernel each, against exact numbers.

    atoms.py make TILEC FOLDER [MACHINE...]    here: MACHINE.tile and its text; says which row no kernel takes
    atoms.py check FOLDER                      there

Operands are small whole numbers, so that sums are exact in every order and every accumulator; floats of tf32 have numbers below its bits
as well, which nothing may see. Then sums of 1 and a small power of
two, which tell how many binary places a sum keeps.
"""
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# --- the rows: element, accumulator, m, n, k; `widths` of a group's, whose forms are those of FORMS
WARP_ROWS = [("f16", "f32", 16, 8, 16), ("bf16", "f32", 16, 8, 16), ("tf32", "f32", 16, 8, 8), ("i8", "i32", 16, 8, 32), ("u8", "i32", 16, 8, 32), ("f64", "f64", 8, 8, 4)]
BYTE_FLOAT_ROWS = [("f8e4m3", "f32", 16, 8, 32), ("f8e5m2", "f32", 16, 8, 32)]
GROUP_ROWS = [("f16", "f32", 16), ("bf16", "f32", 16), ("f8e4m3", "f32", 32), ("f8e5m2", "f32", 32), ("tf32", "f32", 8), ("i8", "i32", 32), ("u8", "i32", 32)]
MACHINES = {"sm_80": (WARP_ROWS, []), "sm_89": (WARP_ROWS + BYTE_FLOAT_ROWS, []), "sm_90a": (WARP_ROWS + BYTE_FLOAT_ROWS, GROUP_ROWS)}
WIDTHS, INTEGERS = range(8, 257, 8), ("i8", "u8")  # of integers every second one beyond 32
ALONG_K = ("f8e4m3", "f8e5m2", "tf32", *INTEGERS)
DEPTH = 3  # turns of the loop over k
PLACES = {(kind, element): 13 for kind in "gs" for element in ("f8e4m3", "f8e5m2")}  # binary places of sums as the tables state them; all other rows: those of f32

# --- forms of a group's operands: how A and B lie. All but two bytes run along k alone; rows of B along n have 32 bytes or more.
FORMS = {"nt": ("M, K", "N, K", "a @ b.T"), "nn": ("M, K", "K, N", "a @ b"), "tn": ("K, M", "K, N", "a.T @ b"), "tt": ("K, M", "N, K", "a.T @ b.T"),
         "rt": ("M, K", "N, K", "A.tile[64, KK](0, k) @ b.T"), "rn": ("M, K", "K, N", "A.tile[64, KK](0, k) @ b"),
         "nr": ("M, K", "K, N", "a @ b"), "tr": ("K, M", "K, N", "a.T @ b")}


def kernel(name, element, sum_type, m, n, kk, form, threads):
    a, b, product = FORMS[form]
    tile = {"M, K": f"{m}, {kk}", "K, M": f"{kk}, {m}", "N, K": f"{n}, {kk}", "K, N": f"{kk}, {n}"}
    at = {"M, K": "0, k", "K, M": "k, 0", "N, K": "0, k", "K, N": "k, 0"}
    lines = [f"export kernel {name}(A: {element}[{a}], B: {element}[{b}], out C: {sum_type}[M, N]) {{", f"    launch (i in 1) threads {threads} {{",
             f"        var acc: fragment {sum_type}[{m}, {n}] = 0;", f"        for k in 0..ceildiv(K, {kk}) {{"]
    if form[0] != "r":
        lines.append(f"            var a: shared {element}[{tile[a]}] = A.tile({at[a]});")
    place = "fragment" if form[1] == "r" else "shared"
    lines += [f"            var b: {place} {element}[{tile[b]}] = B.tile({at[b]});", f"            acc += {product.replace('KK', str(kk))};", "        }",
              "        C.tile(0, 0) = acc;", "    }", "}", ""]
    return "\n".join(lines)


def forms_of(element, n):
    if element in ALONG_K:
        return ["nt", "rt"]
    return ["nt", "nn", "tn", "tt", "rt", "rn"] if n % 16 == 0 else ["nt", "tt", "rt"]


def swapped_forms_of(element, m):
    if element in ALONG_K:
        return ["nt", "nr"]
    return ["nn", "nt", "tn", "tt", "nr", "tr"] if m % 16 == 0 else ["nn", "nt", "nr"]


def cases(machine):
    """(kernel's name, row's name, text), the rows of groups in one form each, which change with the width."""
    warp, group = MACHINES[machine]
    for element, total, m, n, k in warp:
        yield f"w_{element}", f"mma.m{m}n{n}k{k}.{element}", kernel(f"w_{element}", element, total, m, n, 2 * k, "nn", 32)
    for element, total, k in group:
        for n in WIDTHS:
            if element in INTEGERS and n > 32 and n % 16:
                continue
            forms = forms_of(element, n)
            form = forms[n // 16 % len(forms)]
            name, row = f"g_{element}_{n}_{form}", f"group.m64n{n}k{k}.{element}"
            yield name, row, kernel(name, element, total, 64, n, 4 * k, form, 128)
            if n % 64 == 0:  # the row itself takes such tiles
                continue
            forms = swapped_forms_of(element, n)
            form = forms[n // 8 % len(forms)] if len(forms) == 3 else forms[n // 16 % len(forms)]
            name = f"s_{element}_{n}_{form}"
            yield name, row + ".swapped", kernel(name, element, total, n, 64, 4 * k, form, 128)


def make(tilec, folder, machines):
    folder.mkdir(parents=True, exist_ok=True)
    for path in HERE.glob("*.py"):
        shutil.copy(path, folder)
    missed = 0
    for machine in machines:
        source, text = folder / f"{machine}.tile", folder / f"atoms.{machine}.ptx"
        rows = list(cases(machine))
        source.write_text("".join(text for _, _, text in rows))
        done = subprocess.run([tilec, source, "-w", "-R", "tensor-core", "--emit=ptx", f"--target={machine}", "-o", text], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        taken = set(re.findall(r"uses `([^`]+)`", done.stderr))
        for name, row, _ in rows:
            if row not in taken:
                missed += 1
                print(f"{machine}: `{name}` does not take {row}")
        print(f"{machine}: {len(rows)} rows")
    sys.exit(missed > 0)


def places_kept(torch, run, element, m, n, k):
    """The greatest p for which 1 + 2^-p is not 1, and the greatest that was asked: operands of 8 bits reach no smaller product."""
    first, low = (9, 8) if element.startswith("f8") else (17, 12)
    a, b = torch.zeros(m, k), torch.zeros(k, n)
    a[:, 0], a[:, 1], b[0, :8] = 1, 2.0**-low, 1
    for column in range(8):
        b[1, column] = 2.0 ** -(first + column - low)
    c = run(a, b)
    return first - 1 + int((c[0, :8] != 1).sum()), first + 7


def check(folder):
    sys.path.insert(0, str(folder))
    import torch

    import check as gpu
    import tensors

    torch.manual_seed(1)
    fault = torch.zeros(1, device=tensors.DEVICE, dtype=torch.int64)
    types = {**tensors.DTYPES, "f64": torch.float64, "u8": torch.uint8, "f8e5m2": torch.float8_e5m2}
    good = bad = 0
    for path in sorted(folder.glob("atoms.*.ptx")):
        machine = path.name.split(".")[1]
        exports = gpu.load(path)
        for name, row, text in cases(machine):
            element, form = name.split("_")[1], name.split("_")[3] if name[0] in "gs" else "nn"
            total = re.search(r"out C: (\w+)\[", text)[1]
            m, n = map(int, re.search(r"fragment \w+\[(\d+), (\d+)\]", text).groups())
            k = DEPTH * int(re.search(r"ceildiv\(K, (\d+)\)", text)[1])

            def run(a, b):
                given = [(x.T if is_turned else x).contiguous().to(tensors.DEVICE, torch.float32).to(types[element])
                         for x, is_turned in ((a, form[0] == "t"), (b, form[1] == "t"))]
                if element == "tf32":
                    given = [(x.view(torch.int32) | torch.randint_like(x, 1 << 13).int()).view(torch.float32) for x in given]
                c = tensors.poisoned((m, n), types[total])
                for launch in exports[name][0]:
                    launch.launch({"A": given[0], "B": given[1], "C": c, "M": m, "N": n, "K": k}, fault)
                torch.cuda.synchronize()
                return c.to(torch.float64)

            low = 0 if element == "u8" else -2
            a, b = (torch.randint(low, 3, shape, device=tensors.DEVICE, dtype=torch.int32) for shape in ((m, k), (k, n)))
            wrong = int((run(a, b) != a.to(torch.float64) @ b.to(torch.float64)).sum())
            good, bad = good + (wrong == 0), bad + (wrong > 0)
            if wrong:
                print(f"BAD  {machine} {row} ({form}): {wrong} of {m * n} numbers", flush=True)
            if total == "f32":
                (kept, most), stated = places_kept(torch, run, element, m, n, k), PLACES.get((name[0], element), 23)
                is_as_stated = kept == min(stated, most)
                bad += not is_as_stated
                if not is_as_stated:
                    print(f"{machine} {row}: keeps {kept} binary places of its sums, {stated} are stated", flush=True)
    print(f"{good} rows agree, {bad} do not")
    sys.exit(bad > 0)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]), sys.argv[4:] or list(MACHINES))
    else:
        check(pathlib.Path(sys.argv[2]).resolve())
