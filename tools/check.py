#!/usr/bin/env python3
"""Holds the sources to the rules of the house.

  tools/check.py            all checks but `lines`
  tools/check.py floors     those that are named

floors     an #include goes to a lower floor
doors      each third-party library is included from one folder
words      no vendor's name outside src/target
sizes      files of at most 400 lines, functions of at most 50
lines      code of at most 120 columns
readmes    every folder of src says what it is

Known offenders stand in tools/check_allowed.txt, one `check path [name]` a line; what is not needed there any more is
told. The last line is "N passed, N failed".
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tools/check_allowed.txt"

# Folders of src by floor; the longest name that fits counts. Folders on one floor do not include each other.
FLOORS = {
    "base": 0, "layout": 1, "diag": 2, "machine": 3, "syntax": 3, "ir": 4, "prove": 5, "prove/z3": 6, "ops": 6,
    "sema": 7, "interp": 7, "passes": 7, "lower": 7, "check": 7, "judge": 8,
    "target/abi": 8, "target/launch_support": 8, "target/native": 9, "target/llvm": 10, "target/c_family": 9, "target": 10,
    "host": 11, "pipeline": 12, "explain": 13, "lsp": 13, "tune": 13, "driver": 14, "": 15,
}

# What an #include begins with, and the one folder of src where it may stand.
DOORS = {
    "antlr4": "syntax", "TileLexer": "syntax", "TileParser": "syntax", "z3": "prove/z3", "llvm": "target/llvm",
    "clang": "target/llvm", "CLI/": "driver", "nlohmann": "diag",
}

WORDS = re.compile(r"(?<!\w)(?:cuda|hip|metal|ptx|sm_[0-9]+a?)(?!\w)", re.IGNORECASE)
MOST_FILE_LINES, MOST_FUNCTION_LINES, MOST_COLUMNS = 400, 50, 120
CODE = {".c", ".cpp", ".h"}


def files(folder, suffixes):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in suffixes and p.is_file())


def relative(path):
    return path.relative_to(ROOT).as_posix()


def folder_of(name):
    """The entry of FLOORS that the file `name`, relative to src, belongs to."""
    folder = name.rpartition("/")[0]
    while folder and folder not in FLOORS:
        folder = folder.rpartition("/")[0]
    return folder


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1)


def check_floors():
    for path in files("src", CODE | {".def"}):
        name = path.relative_to(ROOT / "src").as_posix()
        source = folder_of(name)
        for number, included in includes(path):
            inner = path.parent / included
            if (ROOT / "src" / included).is_file():
                target = folder_of(included)
            elif inner.is_file():
                target = folder_of(inner.resolve().relative_to(ROOT / "src").as_posix())
            else:
                continue
            if target != source and FLOORS[target] >= FLOORS[source]:
                yield relative(path), target, f"{relative(path)}:{number}: {source} does not stand above {target}"


def check_doors():
    for path in files("src", CODE | {".def"}):
        name = path.relative_to(ROOT / "src").as_posix()
        for number, included in includes(path):
            for library, door in DOORS.items():
                if included.startswith(library) and not name.startswith(door + "/"):
                    yield relative(path), library, f"{relative(path)}:{number}: <{included}> belongs to src/{door}"


def check_words():
    for path in files("src", CODE | {".def", ".txt", ".md", ".cmake"}):
        if path.relative_to(ROOT / "src").as_posix().startswith("target/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = WORDS.search(line)
            if found:
                yield relative(path), found.group(), f"{relative(path)}:{number}: the word `{found.group()}`"


def blanked(text):
    """The text with comments, strings and preprocessor lines blank, lines kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^\s()\\]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'"
        r'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(text):
    """(name, first line, last line) of each function; those inside functions belong to them."""
    stack, start = [], 0
    clean = blanked(text)
    for at, char in enumerate(clean):
        if char == "{":
            head = clean[start:at]
            inside = any(kind == "function" for kind, _, _ in stack)
            kind, name = "other", ""
            if inside:
                pass
            elif re.search(r"\b(namespace|enum)\b|\bextern\s*$", head):
                kind = "scope"
            elif re.search(r"^\s*(template\s*<.*>\s*)?(typedef\s+)?(struct|class|union)\b[^()=]*$", head, re.DOTALL):
                kind = "scope"
            elif "(" in head and not re.search(r"=\s*$", head):
                kind = "function"
                name = (re.search(r"([\w:~]+|operator\W+)\s*\(", head) or [None, "?"])[1]
            first = clean.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
            stack.append((kind, name, first))
            start = at + 1
        elif char == "}":
            kind, name, first = stack.pop() if stack else ("other", "", 0)
            if kind == "function":
                yield name, first, clean.count("\n", 0, at) + 1
            start = at + 1
        elif char == ";":
            start = at + 1


def check_sizes():
    for folder in ("src", "tests", "examples"):
        for path in files(folder, CODE | {".def", ".tile"}):
            text = path.read_text(errors="replace")
            lines = text.count("\n")
            if lines > MOST_FILE_LINES:
                yield relative(path), "file", f"{relative(path)}: {lines} lines, {MOST_FILE_LINES} are allowed"
            if folder == "tests" or path.suffix not in CODE:
                continue
            for name, first, last in functions(text):
                if last - first + 1 > MOST_FUNCTION_LINES:
                    text = f"{name} has {last - first + 1} lines, {MOST_FUNCTION_LINES} are allowed"
                    yield relative(path), name, f"{relative(path)}:{first}: {text}"


def check_lines():
    for folder in ("src", "tests", "examples", "stdlib"):
        for path in files(folder, CODE | {".tile"}):
            lines = path.read_text(errors="replace").splitlines()
            long = [number for number, line in enumerate(lines, 1) if len(line) > MOST_COLUMNS]
            if long:
                places = ", ".join(map(str, long[:5])) + (", ..." if len(long) > 5 else "")
                yield relative(path), "line", f"{relative(path)}: over {MOST_COLUMNS} columns in line {places}"


def check_readmes():
    for folder in sorted((ROOT / "src").rglob("*")):
        if folder.is_dir() and any(p.suffix in CODE for p in folder.iterdir()) and not (folder / "README.md").is_file():
            yield relative(folder), "README.md", f"{relative(folder)}: no README.md"


CHECKS = {"floors": check_floors, "doors": check_doors, "words": check_words, "sizes": check_sizes,
          "readmes": check_readmes, "lines": check_lines}


def allowed_entries():
    if not ALLOWED.is_file():
        return set()
    rows = (line.split("#")[0].split() for line in ALLOWED.read_text().splitlines())
    return {tuple(row) for row in rows if row}


def main(names):
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f"no check is named {unknown[0]}; there are {', '.join(CHECKS)}")
        return 2
    entries, failed = allowed_entries(), 0
    names = names or [name for name in CHECKS if name != "lines"]
    for check in names:
        used, new = set(), []
        for path, what, message in CHECKS[check]():
            keys = {(check, path), (check, path, what)} & entries
            used |= keys
            if not keys:
                new.append(message)
        for entry in sorted(e for e in entries if e[0] == check and e not in used):
            print(f"note: `{' '.join(entry)}` in tools/check_allowed.txt is not needed any more")
        for message in new:
            print(f"{check}: {message}")
        print(f"{check}: {'ok' if not new else f'{len(new)} offences'}, {len(used)} allowed")
        failed += bool(new)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
