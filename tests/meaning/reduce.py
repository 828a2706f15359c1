#!/usr/bin/env python3
"""Makes a program smaller on which two forms differ: reduce.py TILEC FILE.tile DATA.json [FORM FORM], `source` and `typed` if not said.

Lines, blocks and sides of expressions go as long as both forms run it without a fault and give other numbers. The smallest is printed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


class Reducer:
    def __init__(self, compiler, data, forms, folder):
        self.compiler, self.data, self.forms, self.path = compiler, data, forms, pathlib.Path(folder) / "k.tile"

    def outputs(self, form):
        words = [self.compiler, "run", self.path, "-w", f"--form={form}", "--numeric=typed", f"--data={self.data}", "--print=json"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            return None
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if len(said) != 1 or said[0].get("fault") or said[0].get("guard") or "not_judged" in said[0]:
            return None
        return said[0]["outputs"]

    def differs(self, text):
        self.path.write_text(text)
        a = self.outputs(self.forms[0])
        b = a is not None and self.outputs(self.forms[1])
        return bool(b) and a != b

    def without_lines(self, text):
        lines = text.splitlines()
        size = len(lines) // 2
        while size:
            at = 0
            while at < len(lines):
                # A cut may open a block: it goes to where that ends.
                end, depth = at, 0
                while end < len(lines) and (end < at + size or depth > 0):
                    depth += lines[end].count("{") - lines[end].count("}")
                    end += 1
                fewer = lines[:at] + lines[end:]
                if self.differs("\n".join(fewer)):
                    lines = fewer
                else:
                    at += size
            size //= 2
        return "\n".join(lines)

    def without_blocks(self, text):
        """Heads and ends of blocks go, and what they hold stays."""
        lines, at = text.splitlines(), 0
        while at < len(lines):
            if lines[at].rstrip().endswith("{"):
                end, depth = at, 0
                while end < len(lines):
                    depth += lines[end].count("{") - lines[end].count("}")
                    if depth <= 0:
                        break
                    end += 1
                fewer = lines[:at] + lines[at + 1:end] + lines[end + 1:]
                if self.differs("\n".join(fewer)):
                    lines = fewer
                    continue
            at += 1
        return "\n".join(lines)

    def with_smaller_expressions(self, text):
        at = 0
        while at < len(text):
            if text[at] == "(" and (end := closed(text, at)):
                inside = text[at + 1:end - 1]
                for other in [*re.split(r" (?:[-+*/%&|^]|&&|\|\||<<|>>|[<>=!]=|<|>) ", inside), inside, "1", "true"]:
                    if len(other) < end - at and other.count("(") == other.count(")"):
                        smaller = text[:at] + other + text[end:]
                        if self.differs(smaller):
                            text = smaller
                            break
            at += 1
        return text

    def smallest(self, text):
        before = None
        while text != before:
            before = text
            for step in (self.without_lines, self.without_blocks, self.with_smaller_expressions):
                text = step(text)
        return text


def closed(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return 0


def main():
    compiler, source, data, *forms = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        reducer = Reducer(pathlib.Path(compiler).resolve(), pathlib.Path(data).resolve(), forms or ["source", "typed"], folder)
        text = pathlib.Path(source).read_text()
        if not reducer.differs(text):
            sys.exit("both forms give the same, or one gives nothing")
        print(reducer.smallest(text))


if __name__ == "__main__":
    main()
