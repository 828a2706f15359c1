#!/usr/bin/env python3
"""The schedule that `explain` prints, pasted beside its kernel, gives the same code: paste.py TILEC MACHINE...

And it does pin: another depth of a pipeline, or another layout, gives other code.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [*sorted(ROOT.glob("examples/*/*.tile")), *sorted(ROOT.glob("tests/kernels/*.tile"))]
SCHEDULE = re.compile(r"^schedule .*?^}\n", re.S | re.M)
HEADER = re.compile(r"^  (schedule|role|place|pipeline|layout) .*\n", re.M)


def tilec(*arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr[:2000]}")
    return done.stdout if done.returncode == 0 else None


# The program of one thread, without the lines that say what was pinned.
def code(compiler, machine, source):
    text = tilec(compiler, "compile", f"--target={machine}", "--emit=thread-ir", source)
    return text and HEADER.sub("", text)


def keeps(compiler, machine, source, folder):
    printed = tilec(compiler, "explain", "--tries=1", f"--target={machine}", source)  # text has the first schedule
    plain = code(compiler, machine, source)
    if not printed or not plain:
        return False
    schedules = "\n".join(dict.fromkeys(SCHEDULE.findall(printed)))
    pasted = folder / source.name
    pasted.write_text(source.read_text() + "\n" + schedules)
    same = code(compiler, machine, pasted) == plain
    print(f"{source.name} on {machine}: {'the same' if same else 'DIFFERENT'}")
    changed = schedules.replace("depth 3", "depth 2")
    if changed == schedules:
        return same
    pasted.write_text(source.read_text() + "\n" + changed)
    other = code(compiler, machine, pasted) not in (plain, None)
    if not other:
        print(f"{source.name} on {machine}: a changed depth changes NOTHING")
    return same and other


def main():
    compiler, machines = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        results = [keeps(compiler, machine, source, pathlib.Path(folder))
                   for machine in machines for source in SOURCES]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
