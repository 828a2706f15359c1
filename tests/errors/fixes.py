#!/usr/bin/env python3
"""Every fix that is offered, applied: fixes.py TILEC. The file has no new mistake of form, and where the fix was offered that error is
gone or another one."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Programs by users of C and Python, each of one line in a kernel of `x: i32[N]` and `y: f32[N]`, whose block is i.
LINES = """
y[i] = (f32)x[i];
y[i] = (float)x[i] * 2.0;
y[i] = (f32)(x[i] + 1) + 1.0;
y[i] = (float)-x[i];
y[i] = -(float)x[i];
y[i] = 1.0 - (float)x[i];
y[i] = (float)(int)x[i];
let float c = 2.0; y[i] = c;
const float c = 2.0; y[i] = c;
float s = 0; s += 1.0; y[i] = s;
float s; s = 1.0; y[i] = s;
int n = 3; y[i] = n as f32;
double s = 0.0; y[i] = s as f32;
var s = 0.0; s++; y[i] = s;
if x[i] > 0 and x[i] < 3 { y[i] = 1.0; }
if x[i] > 0 or x[i] < 3 { y[i] = 1.0; }
if not (x[i] > 0) { y[i] = 1.0; }
if (x[i] > 0) y[i] = 1.0;
if (x[i] > 0) y[i] = 1.0; else y[i] = 2.0;
if x[i] > 0 { y[i] = 1.0; } elif x[i] < 0 { y[i] = 2.0; } else { y[i] = 3.0; }
y[i] = (x[i] as f32) ** 2;
y[i] = x[i] > 0 ? 1.0 : 2.0;
for (int j = 0; j < 4; j++) { y[i] = 1.0; }
let t: fragment float[16] = 0; y[i] = t.sum(axis = 0);
let n: size_t = 3; y[i] = n as f32;
let n: unsigned = 3; y[i] = n as f32;
let h: half = 1.0; y[i] = h as f32;
let t = zeros(16); y[i] = t.sum(axis = 0);
y[i] = matmul(x[i], 2);
y[i] = fabs(1.0);
y[i] = relu(1.0);
y[i] = sigmod(1.0);
y[i] = 1.;
y[i] = 2
y[j] = 2.0;
var launch = 1.0; launch += 2.0; y[i] = launch;
let in = x[i]; y[i] = in as f32 + in as f32;
for if in 0..3 { y[i] = if as f32; }
let is = 3; y[is] = is as f32;
auto a = 3; y[i] = a as f32;
let mut a = 3; a = 4; y[i] = a as f32;
mut a = 3; a = 4; y[i] = a as f32;
a := 3; y[i] = a as f32;
lett a = 3; y[i] = a as f32;
vra s: f32 = 0; y[i] = s;
fro j in 0..3 { y[i] = 1.0; }
whlie x[i] > 3 { y[i] = 1.0; }
if x[i] > 3 { y[i] = 1.0; } esle { y[i] = 2.0; }
var t: shraed f32[16] = 0; y[i] = t[0];
let x2 = x[i]; x2 = 3; y[i] = 1.0;
var s: f32; s += 1.0; y[i] = s;
for (let j = 0; j < 4; j++) { y[i] = 1.0; }
for (unsigned int j = 0; j != 4; j++) y[i] = 1.0;
int a = x[i], b = 3; y[i] = (a + b) as f32;
float s, t = 2.0; s = t; y[i] = s;
let a = x[i], b = 3; y[i] = (a + b) as f32;
let a, b = x[i], 3; y[i] = (a + b) as f32;
a, b = x[i], 3; a, b = b, a; y[i] = (a + b) as f32;
unsigned long a = 3; y[i] = a as f32;
y[i] = 'a';
y[i] = 0x1.8p3;
y[i] = 0x1p-3f + 1.0;
let c = not x[i] > 3; if c { y[i] = 1.0; }
y[i] = (x[i] xor 3) as f32;
if x[i] is not 3 { y[i] = 1.0; }
y[i] = 1.0 + if x[i] > 0 { 1 } else { 0 };
y[i] = 2.0 * if x[i] > 0 { 1 } else if x[i] < -3 { 2 } else { 0 } + 1.0;
if x[i] = 3 { y[i] = 1.0; }
if (x[i] = 3) { y[i] = 1.0; }
if 0 < x[i] < 3 { y[i] = 1.0; }
y[i] = static_cast<float>(x[i]);
y[i] = static_cast<float>(x[i] + 1);
y[i] = float(x[i]) + float32(x[i] * 2);
for (j in 0..4) { y[i] = 1.0; }
for j = 0..3 { y[i] = 1.0; }
foreach j in 0..3 { y[i] = 1.0; }
for j in 0..=3 { y[i] = 1.0; }
let s: f32; s = 1.0; y[i] = s;
if x[i] > 3 { y[i] = 1.0; } elseif x[i] > 2 { y[i] = 2.0; }
if x[i] <> 3 { y[i] = 1.0; }
if x[i] === 3 { y[i] = 1.0; }
if x[i] !== 3 { y[i] = 1.0; }
y[i] = .5;
y[i] = 2.f;
y[i] = 1.0e3f;
total = 0.0; total += 1.0; y[i] = total;
y[i] = max(&x[i], 3) as f32;
y[i] == 0;
var a, b: f32; a = 1.0; b = 2.0; y[i] = a + b;
let t: fragment f32[16] = 0; let u = t[:, None]; y[i] = u[3, 0];
for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) y[i] = 1.0;
for (int j = 0; j < 4; j++) if (x[i] > 1) y[i] = 1.0; else if (x[i] > 2) y[i] = 2.0; else { y[i] = 3.0; }
parallel (c in 32) { y[c] = 1.0; }
parallel (c in 4, d in 8) { y[c * 8 + d] = 1.0; }
parallel c in 32 { y[c] = 1.0; }
y[i] = 1 / N; y[i] = (N + 1) / (2 * N) * 3;
y[i] = math.exp(1.0);
var t: fragment f32[4, 4] = 0; let u = t.sum(dim = 0); y[i] = u[0];
y[i] = float("inf");
y[i] = max(float('-inf'), 1.0) + float("nan");
y[i] = max(-np.inf, math.inf);
y[i] = select(x[i] > 0 & x[i] < 3 & i != 3, 1.0, 2.0);
if x[i] > 0 | x[i] < 1 { y[i] = 1.0; }
if x[i] in [1, 2] { y[i] = 1.0; }
if i not in (1, 2) { y[i] = 1.0; }
if x[i] > 0 && !(i in [1, 2]) { y[i] = 1.0; }
let c = x[i] > 0 && i in (1, 2); if c { y[i] = 1.0; }
for j in 0..10 step 2 { y[i] = 1.0; }
y[i] = np.float32("-inf");
if x[i] is 3 { y[i] = 1.0; }
for j in 0...4 { y[i] = 1.0; }
for j in 0..10..2 { y[i] = 1.0; }
y[i] = (x[i] >>> 2) as f32;
if x[i] > 3 { y[i] = 1.0; };
""".strip().split("\n")

# Heads of kernels, of which all have a body that copies x to y; `#` is an end of a line.
HEADS = """
k(x: f32[N] out y: f32[N]) { launch (i in N)
k(x: f32[N, out y: f32[N]) { launch (i in N)
k(x: f32[N]; out y: f32[N]) { launch (i in N)
k(x: f32[N],, out y: f32[N]) { launch (i in N)
k(x: f32(N), out y: f32(N)) { launch (i in N)
k(x: f32[N], y: out f32[N]) { launch (i in N)
k(x: f32[N] alias, y: f32[N] out) { launch (i in N)
k(f32 x[N], out y: f32[N]) { launch (i in N)
k(x f32[N], out y f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i: N)
k(x: f32[N], out y: f32[N]) { launch (max(N, 1))
k(x: f32[N], out y: f32[N]) { launch (N, N + 1)
k(x: f32[N], out y: f32[N]) { launch (i in 0..N)
k(x: f32[N], out y: f32[N]) { launch (i in N, threads = 32)
k(x: f32[N], out y: f32[N]) { launch (N)
k(x: f32[N], out y: f32[N]) -> f32 { launch (i in N)
k(x: f32[N], out y: f32[N]); { launch (i in N)
k(x: f32[N], out y: f32[N]) requires N > 2; { launch (i in N)
k(x: f32[N], out y: f32[N]) requires N = 8, N % 4 == 0 { launch (i in N)
k(x: f32[N], out y: f32[N]) requires N > 1 requires N < 9 { launch (i in N)
k(x: f32[N], out: f32[N]) { launch (i in N) { out[i] = 2.0; } } kernel g(x: f32[N], out y: f32[N]) { launch (i in N)
k(x: const f32[N], out y: f32[N]) { launch (i in N)
k(const x: f32[N], out y: f32[N]) { launch (i in N)
k(x: f32[N] const, out y: f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i, j in N, N)
k(x: f32[N], out y: f32[N]) { launch ((i, j) in (N, N))
k(x: f32[N], out y: f32[N]) { launch (i, j) in (N, N)
k(x: f32[N], out y: f32[N]) { launch (i in N) threads (16, 16)
k(x: f32[N], out y: f32[N]) { launch (i in N) threads [16, 16]
k(x: f32[N], out y: f32[N]) { launch threads 128 (i in N)
k(x: f32[N], out y: f32[N]) { launch<<<N, 128>>>
k(x: f32[N], out y: f32[N]) { launch<<<N, 128>>>(i in N)
k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = 2.0; } }#float sq(float a) { return a * a; }#kernel g(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = sq(2.0); } } kernel h(x: f32[N], out y: f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = 2.0; } }#static const int B = 32;#C = 0.5#D: int = B * 2#float E = 1.0;#kernel g(x: f32[N], out y: f32[N]) { launch (i in N)
k(x: f32[N], N: int, out y: f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = 2.0; } } fn f(x: f32): f32 { return x; } kernel g(x: f32[N], out y: f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = 2.0; } } fn f(x: f32) -> f32 { x * x } kernel g(x: f32[N], out y: f32[N]) { launch (i in N)
k(x: f32[N], out y: f32[N]) { launch (i in N) { y[i] = 2.0; } } static fn f(x: f32) -> f32 = x; kernel g(x: f32[N], out y: f32[N]) { launch (i in N)
""".strip().split("\n")


# Programs that end in the middle, or go on elsewhere.
DAMAGED = ["kernel f(x: f32[N]) -> }\n", "kernel f(x: f32[N]) threads", "kernel f(x: f32[N]) {\n    launch (i in N) { fn\n        B[i, 0] = 3; }\n}\n"]
# What a help must say, whose line is as above.
HELPS = {
    "var t: fragment f32[8] = 0; for c in parallel(8) { if c > 4 { continue; } t[c] = 1; } y[i] = t.sum(axis = 0);": "put the rest under an `if`",
    "var t: fragment f32[8] = 0; for c in parallel(8) { if c > 4 { break; } t[c] = 1; } y[i] = t.sum(axis = 0);": "only some of them do under an `if`",
    "var t: fragment f32[8] = 0; for c in parallel(8) { if c > 4 { return; } t[c] = 1; } y[i] = t.sum(axis = 0);": "put the rest under an `if`",
    "if y { y[i] = 1.0; }": "where `y` may be NULL mark it, `inout y: f32[N]?`",
    "if !x && i > 0 { y[i] = 1.0; }": "where `x` may be NULL mark it, `x: i32[N]?`",
    "y[i] = if x { 1.0 } else { 2.0 };": "where `x` may be NULL mark it, `x: i32[N]?`",
    "let t: fragment f32[4] = 0; if t { y[i] = 1.0; }": "compare and reduce it: `(t != 0).any(axis = 0)`",
    "y[i] = tan(1.0);": "sin(x) / cos(x)",
    "y[i] = hypot(1.0, 2.0);": "sqrt(x * x + y * y)",
    "y[i] = x[i].max(0) as f32;": "max(x[i], 0)",
    "y[i] = sqrt(x[i]);": "x as f32",
    "y[i] = max(x[i]) as f32;": "axis = 0",
    "y[i] = (x[i] // 2) as f32;": "`//` begins a comment",
    "atomic_add(y, 0, 1);": "atomic_add(h[0], 1)",
    "var t: fragment f32[4, 4] = 0; t @ t; t[:, :] = 1;": "`acc += a @ b;`",
    "y[i] = 1 / N;": "rounded down: convert what is divided",
    "y[i] = (N + 1) / (2 * N) * 3;": "rounded down: convert what is divided",
    "y[i] = 1 + N / 2;": "`1.0 / (n as f32)`",
    "y[i] = (ceildiv(N, 2) + x[i / 2]);": "convert it with `as`",
    "let s = T.Pipelined(4); y[i] = s;": "`for k in pipelined(n, stages = 3) { ... }`",
    "y[i] = tl.exp(1.0);": "`exp` needs no module",
    "var t: fragment f32[4, 4] = 0; let u = t.sum(axis = 0, keepdim = true); y[i] = u[0];": "`t.sum(axis = 1)[:, _]`",
    "for k in range(10, 0, -1) { y[i] = 1.0; }": "goes from 10 down to 1",
    "y[i] = 1.0 as fp16 as f32;": "`f16`",
    "y[i] = 1.0 as float8_e4m3 as f32;": "`f8e4m3`",
    "y[i] = 1.0 as F32;": "`f32`",
}


def programs():
    for path in sorted(HERE.glob("*.tile")):
        yield path.name, path.read_text(errors="replace")
    for head in HEADS:
        yield head, "export kernel " + head.replace("#", "\n") + " {\n        y[i] = x[i];\n    }\n}\n"
    for text in DAMAGED:
        yield text, text
    for line in LINES:
        yield line, "export kernel k(x: i32[N], out y: f32[N]) {\n    launch (i in N) {\n        " + line + "\n    }\n}\n"
        yield "lunch: " + line, "export kernel k(x: i32[N], out y: f32[N]) {\n    lunch (i in N) {\n        " + line + "\n    }\n}\n"


def diagnostics(tilec, folder, text):
    (folder / "x.tile").write_text(text)
    done = subprocess.run([tilec, "check", "--diagnostics-format", "json", "--error-limit", "0", "x.tile"], cwd=folder, capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in (done.stdout + done.stderr).splitlines() if line.startswith("{")]


def is_of_form(diagnostic):
    return diagnostic["severity"] == "error" and diagnostic["code"] < "T0100"


def applied(text, fixes):
    raw = text.encode()
    for fix in sorted(fixes, key=lambda f: (f["span"]["begin"], f["span"]["end"]), reverse=True):
        raw = raw[: fix["span"]["begin"]] + fix["replacement"].encode() + raw[fix["span"]["end"] :]
    return raw.decode()


def main():
    tilec, failed, count = str(pathlib.Path(sys.argv[1]).resolve()), 0, 0
    with tempfile.TemporaryDirectory() as name:
        for label, text in programs():
            found = diagnostics(tilec, pathlib.Path(name), text)
            forms = sum(map(is_of_form, found))
            for diagnostic in found:
                for help in diagnostic["helps"]:
                    if not help["fixes"] or any(f["span"]["file"] != "x.tile" for f in help["fixes"]):
                        continue
                    count += 1
                    now_text = applied(text, help["fixes"])
                    now = diagnostics(tilec, pathlib.Path(name), now_text)
                    places = [f["span"]["begin"] for f in help["fixes"]]
                    shift = sum(len(f["replacement"]) - (f["span"]["end"] - f["span"]["begin"]) for f in help["fixes"] if f["span"]["end"] <= diagnostic["span"]["begin"])
                    same = [d for d in now if d["code"] == diagnostic["code"] and d["message"] == diagnostic["message"] and abs(d["span"]["begin"] - diagnostic["span"]["begin"] - shift) <= 1]
                    wanted = forms - is_of_form(diagnostic)
                    if sum(map(is_of_form, now)) > wanted or same or now_text == text:
                        failed += 1
                        print(f"{label}: {diagnostic['code']} {diagnostic['message']}\n  {help['text']}\n{now_text}\n  now: {[d['code'] + ' ' + d['message'] for d in now]}\n")
        for line, words in HELPS.items():
            text = "export kernel k(x: i32[N], inout y: f32[N]) {\n    launch (i in N) {\n        " + line + "\n    }\n}\n"
            told = diagnostics(tilec, pathlib.Path(name), text)
            found = [d for d in told if d["severity"] == "error"] or [d for d in told if d["name"] == "IdleStatement"]
            if len(found) != 1 or not any(words in help["text"] for help in found[0]["helps"]):
                failed += 1
                print(f"{line}: no help with {words}: {[d['message'] for d in found]}\n")
    print(f"{count} fixes, {failed} failed")
    return failed != 0 or count < 40


if __name__ == "__main__":
    sys.exit(main())
