#!/usr/bin/env python3
"""Padding never counts: generate.py TILEC FIRST COUNT. Every number names a program; see README.md."""
import pathlib
import random
import sys
import tempfile

from judge import Builder, Function, compiled, judged
from programs import Frame, Program

PER_FUNCTION, PER_OBJECT = 8, 96


def function(first, count):
    """The programs of numbers from `first`, of one function, which is made for all numbers that share it."""
    frame = Frame(random.Random(-1 - first // PER_FUNCTION))
    return Function(f"of_{first // PER_FUNCTION}", frame, [Program(n, random.Random(n), frame) for n in range(first, first + count)])


def functions(first, end):
    while first < end:
        count = min(PER_FUNCTION - first % PER_FUNCTION, end - first)
        yield function(first, count)
        first += count


def main():
    tilec, first, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    ran, wrong, refusals, odd = 0, 0, {}, 0
    for start in range(first, first + count, PER_OBJECT):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            library, left, refused = compiled(tilec, folder, list(functions(start, min(start + PER_OBJECT, first + count))))
            for program, code in refused:
                refusals[code] = refusals.get(code, 0) + 1
                if code != "T0404":
                    odd += 1
                    print(f"--- {program.name} is refused by {code}\n{program.over}", flush=True)
            for made in left:
                ran += len(made.programs)
                for found in judged(library, made, Builder(tilec, folder)):
                    wrong += 1
                    print(found, flush=True)
    print(f"{ran} programs, {wrong} wrong, refused: {refusals}")
    return wrong + odd > 0


if __name__ == "__main__":
    sys.exit(main())
