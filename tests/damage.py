#!/usr/bin/env python3
"""Damaged examples as whole processes: damage.py TILEC. Exit code 0 or 1, an object only with 0, never a signal."""
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = 200


def damaged():
    """Truncations and lost tokens, evenly over all examples."""
    all_of_them = []
    for path in sorted(EXAMPLES.glob("*/*.tile")):
        text = path.read_text()
        all_of_them += [text[:cut] for cut in range(0, len(text), 7)]
        all_of_them += [text[: m.start()] + text[m.end() :] for m in re.finditer(r"\w+|[^\w\s]", text)]
    step = len(all_of_them) // PROGRAMS
    return all_of_them[::step][:PROGRAMS]


def main():
    tilec, failed, refused = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, target, header = folder / "x.tile", folder / "x.o", folder / "x.h"
        for text in damaged():
            source.write_text(text)
            target.unlink(missing_ok=True)
            header.unlink(missing_ok=True)
            done = subprocess.run([tilec, source, "-o", target, "--header", header], capture_output=True, text=True, timeout=20)
            is_written = target.exists() and header.exists()
            is_right = done.returncode == 0 and is_written
            is_refused = done.returncode == 1 and not target.exists() and not header.exists() and "error" in done.stderr
            refused += is_refused
            if not (is_right or is_refused):
                failed += 1
                print(f"exit code {done.returncode}, files {sorted(p.name for p in folder.iterdir())}:\n{text}\n{done.stderr}")
            left = {p.name for p in folder.iterdir()} - {"x.tile", "x.o", "x.h"}
            assert not left, left
    print(f"{PROGRAMS} programs, {refused} refused, {failed} failed")
    sys.exit(failed > 0 or refused < PROGRAMS // 2)


if __name__ == "__main__":
    main()
