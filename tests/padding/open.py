#!/usr/bin/env python3
"""Programs over an edge that are not yet as wanted: open.py TILEC

What a program gives here depends on where the edge is, or it is refused though it is right for every N. Each is told of until it is mended; then it
becomes a row (rows.py, ../meaning/rows). Exit code 1: one of them is as wanted and still stands here, or ends otherwise than by a result or T0404.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

NINE = {"N": 9, "X": [1.0] * 9}
PAIR = {"N": 1, "K": 3, "X": [1.0], "Y": [1.0] * 3}
ROWS = {"M": 1, "N": 3, "X": [[-1.0] * 3]}
LOOP, TWO = "for j in 0..ceildiv(N, 8)", "X: f32[N], Y: f32[K]"
TURN, ACC, SUM = "let t = X.tile[8](j);", "var a: fragment f32[8] = 0;", "y[0] = a.sum(axis = 0);"
REVERSED = "let t = X.tile[8](ceildiv(N, 8) - 1 - j);"

# (what it is about, its tensors, the body, data, y[0])
PROGRAMS = [
    ("a list of tiles", "X: f32[N]", f"{ACC} for j in [0, 1] {{ a += X.tile[8](j); }} {SUM}", NINE, 9),
    ("tiles one after the other", "X: f32[N]", f"{ACC} a += X.tile[8](0); a += X.tile[8](1); a += X.tile[8](2); {SUM}", NINE, 9),
    ("the rest behind a loop", "X: f32[N]", f"{ACC} for j in 0..N / 8 {{ a += X.tile[8](j); }} a += X.tile[8](N / 8); {SUM}", NINE, 9),
    ("the rest under a condition", "X: f32[N]", f"{ACC} for j in 0..N / 8 {{ a += X.tile[8](j); }} if N % 8 > 0 {{ a += X.tile[8](N / 8); }} {SUM}", NINE, 9),
    ("two loops of different extents", TWO, f"{ACC} {LOOP} {{ a += X.tile[8](j); }} for j in 0..ceildiv(K, 8) {{ a += Y.tile[8](j); }} {SUM}", PAIR, 4),
    ("two accumulators joined", "X: f32[N]", f"{ACC} var b: fragment f32[8] = 0; for j in 0..ceildiv(N, 16) {{ a += X.tile[8](2 * j); b += X.tile[8](2 * j + 1); }} y[0] = (a + b).sum(axis = 0);",
     {"N": 8, "X": [1.0] * 8}, 8),
    ("a difference from what is carried", "X: f32[M, N]", f"{ACC} for r in 0..M {{ let d = X[r].tile[8](0) - a; a += d * 0.5; }} y[0] = a.max(axis = 0);", ROWS, -0.5),
    ("a factor that is a tile", "X: f32[M, N]", f"{ACC} let f: fragment f32[8] = 0.5; for r in 0..M {{ a = a * f + X[r].tile[8](0); }} y[0] = a.max(axis = 0);", ROWS, -1),
    ("counted under a condition", "X: f32[N]", f"{ACC} {LOOP} {{ {TURN} for c in parallel(8) {{ if t[c] <= 0 {{ a[c] += 1; }} }} }} {SUM}", NINE, 0),
    ("counted by a choice", "X: f32[N]", f"{ACC} {LOOP} {{ {TURN} a = select(t <= 0, a + 1, a); }} {SUM}", NINE, 0),
    ("two steps of one expression", "X: f32[N]", f"{ACC} {LOOP} {{ {TURN} a = a + t * 0 + 1; }} {SUM}", NINE, 9),
    ("a product with the tile before", "X: f32[N]", f"var p = X.tile[8](0); var s: f32 = 0; for j in 1..ceildiv(N, 8) {{ {TURN} s += (t * p).sum(axis = 0); p = t; }} y[0] = s;",
     {"N": 9, "X": [1.0, 2, 3, 4, 5, 6, 7, 8, 10]}, 10),
    ("the greatest from the end", "X: f32[N]", f"var a: fragment f32[8] = -1e30; {LOOP} {{ {REVERSED} a = max(a, t); }} y[0] = a.max(axis = 0);", NINE, 1),
    ("sums over two loops", "X: f32[M, N]", "var a: fragment f32[4, 8] = 0; for r in 0..ceildiv(M, 4) { for j in 0..ceildiv(N, 8) { a += exp(X.tile[4, 8](r, j)); } } y[0] = a.sum(axis = 1).sum(axis = 0);",
     {"M": 2, "N": 3, "X": [[0.0] * 3] * 2}, 6),
]


def result(tilec, folder, tensors, body, data):
    source, numbers = folder / "k.tile", folder / "k.json"
    source.write_text(f"export kernel k({tensors}, out y: f32[1]) {{ launch (i in 1) {{ {body} }} }}\n")
    numbers.write_text(json.dumps(data))
    checked = subprocess.run([tilec, "check", "-w", source], capture_output=True, text=True)
    if checked.returncode:
        return "T0404" if checked.returncode == 1 and "[T0404]" in checked.stderr else checked.stderr
    done = subprocess.run([tilec, "run", "-w", source, "--form=typed", "--data", numbers, "--print=json"], capture_output=True, text=True)
    outputs = json.loads(done.stdout).get("outputs") if done.stdout.startswith("{") else None
    return outputs["y"][0] if outputs else done.stdout + done.stderr


def main(tilec):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, tensors, body, data, want in PROGRAMS:
            got = result(tilec, pathlib.Path(folder), tensors, body, data)
            is_open = got == "T0404" or (isinstance(got, (int, float)) and got != want)
            failed += not is_open
            print(f"{name}: {got}, wanted {want}" + ("" if is_open else ": move it to the rows" if got == want else " FAILED"))
    print(f"{len(PROGRAMS)} open, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve())))
