#!/usr/bin/env python3
"""Holds the documentation to its word: the fenced blocks of README.md and docs/**/*.md.

A page has a temporary folder for what its blocks make. Links to files must lead somewhere, and the page of the command
line has every verb and option.

  blocks.py TILEC CC [page...]        pages relative to the root; left out, all of them

tile                     passes `tilec check` without a warning
tile error T0123         gets that code
tile fragment            the same inside of the kernel SKELETON; warnings are no matter
c                        passes the compiler; headers of the page's kernels are there
c fragment NAME.tile     the same as the body of a function, after NAME.h
c header NAME.tile       stands like this in NAME.h, line by line; `...` skips lines
sh                       lines that begin with RUNS are run; `# prints X` is what the line prints
text output              is what the last command or checked block printed; `...` skips lines

A block whose first line is the comment `// NAME.tile` or `// NAME.c` is that file for what follows on the page.
Other languages are not looked at; an unknown mark is an error. The last line is "N passed, N failed".
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNS = ("tilec ", "build/bin/tilec ", "cc ", "./")
SKELETON = """
export kernel fragment(A: f32[M, K], B: f32[K, N], inout C: f32[M, N], x: f32[N], count: int)
{
    launch (i in ceildiv(M, 64), j in ceildiv(N, 64)) {
%s
    }
}
"""
# The generated page of diagnostics: each example shows what its heading names.
CATALOGUE = "errors.md"
# What takes other files, a machine, a command or an instance to show: tests of their own provoke these.
SHOWN_ELSEWHERE = set("""
    T0007 T0009 T0105 T0106 T0107 T0109 T0115 T0300 T0302 T0303 T0402 T0500 T0501 T0502 T0503
    T0600 T0601 T0602 T0603 T0605 T0704 T0711 T0800 T0801 T0803 T0805 T0806 T0807 T0808 T0809 T0813 T0814 T0818 T0901
""".split())
# What only some machine has to say.
SHOWN_BY_MACHINE = {"T0815": "sm_90a", "T0816": "sm_90a", "T0817": "sm_90a", "T0507": "sm_90a"}
C_FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only", "-I."]


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int
    language: str
    marks: list
    text: str


@dataclasses.dataclass
class Page:
    folder: pathlib.Path
    tools: dict
    printed: str = ""  # by the last command or checked block


class Broken(Exception):
    pass


def blocks_of(page):
    fence, block, code = None, None, None
    is_catalogue = page.name == CATALOGUE
    for number, line in enumerate(page.read_text().splitlines(), 1):
        found = re.match(r"\s*(`{3,})\s*(.*)", line)
        if block is None and line.startswith("## T"):
            code = line.split()[1]
        if block is None and found:
            fence, words = found.group(1), found.group(2).split()
            if is_catalogue and words == ["tile"]:
                words += ["shows", code]
            block = Block(page, number, words[0] if words else "", words[1:], "")
        elif block is not None and line.strip() == fence:
            yield block
            block = None
        elif block is not None:
            block.text += line + "\n"
    if block is not None:
        yield dataclasses.replace(block, language="text", marks=["without an end"])


def run(page, command, **options):
    environment = dict(os.environ, PATH=f"{page.folder}/bin:{os.environ['PATH']}")
    done = subprocess.run(command, cwd=page.folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, **options)
    return done.returncode, done.stdout


def name_of(block, suffix, otherwise):
    found = re.match(r"// (\w+\." + suffix + r")\n", block.text)
    return found.group(1) if found else otherwise


def check_tile(page, block):
    marks = block.marks
    name = name_of(block, "tile", "block.tile")
    text = SKELETON % block.text if marks == ["fragment"] else block.text
    if marks[:1] == ["shows"]:
        text = re.sub(r"^kernel (?=\w+\()", "export kernel ", text, flags=re.MULTILINE)  # only exports are lowered
    (page.folder / name).write_text(text)
    # What a schedule for a machine asks for is judged where the machine's code is made.
    is_for_model = marks[:1] == ["shows"] and re.search(r"^schedule .* for model ", text, re.MULTILINE)
    machine = "model" if is_for_model else SHOWN_BY_MACHINE.get(marks[-1] if marks else "")
    command = ["tilec", "explain", name, "--target", machine] if machine else ["tilec", "check", name]
    command += {"fragment": ["-w"], "shows": ["-R", "all"]}.get(marks[0] if marks else "", [])
    status, page.printed = run(page, command)
    if marks[:1] == ["shows"]:
        if marks[1] not in re.findall(r"\[(T\d+)", page.printed) and marks[1] not in SHOWN_ELSEWHERE:
            raise Broken(f"the page's example does not show {marks[1]}\n{page.printed}")
    elif marks[:1] == ["error"] and len(marks) == 2:
        codes = re.findall(r"\[(T\d+)\]", page.printed)
        if status != 1 or marks[1] not in codes:
            raise Broken(f"{marks[1]} is promised, not {codes or 'a clean check'}\n{page.printed}")
    elif marks not in ([], ["fragment"]):
        raise Broken(f"unknown mark {' '.join(marks)}")
    elif status != 0 or page.printed:
        raise Broken(page.printed or f"exit {status}")


def header_of(page, name):
    """The text of the header of a file of the page."""
    if not (page.folder / name).is_file():
        raise Broken(f"no block of this page is {name}")
    header = pathlib.Path(name).with_suffix(".h")
    status, printed = run(page, ["tilec", "compile", "--emit=header", "-o", str(header), name])
    if status != 0:
        raise Broken(printed)
    return (page.folder / header).read_text()


def follows(shown, whole):
    """Do the lines of `shown` stand in `whole`, one behind the other, up to space? `...` skips lines."""
    def lines(text):
        return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    runs, all_lines, at = [[]], lines(whole), 0
    for line in lines(shown):
        if line == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    for part in runs:
        places = [i for i in range(at, len(all_lines) - len(part) + 1) if all_lines[i:i + len(part)] == part]
        if not places:
            return False
        at = places[0] + len(part)
    return True


def check_c(page, block):
    text, marks = block.text, block.marks
    if marks[:1] == ["header"] and len(marks) == 2:
        if not follows(text, header_of(page, marks[1])):
            raise Broken(f"the header of {marks[1]} has other lines")
        return
    if marks[:1] == ["fragment"] and len(marks) == 2:
        header = pathlib.Path(marks[1]).with_suffix(".h").name
        text = f'#include <stdio.h>\n#include <stdlib.h>\n#include "{header}"\nvoid fragment(void) {{\n{text}}}\n'
    elif marks:
        raise Broken(f"unknown mark {' '.join(marks)}")
    for included in re.findall(r'#include "(\w+)\.h"', text):
        header_of(page, included + ".tile")
    name = name_of(block, "c", "block.c")
    (page.folder / name).write_text(text)
    status, page.printed = run(page, [page.tools["cc"], *C_FLAGS, name])
    if status != 0:
        raise Broken(page.printed)


def check_sh(page, block):
    if block.marks:
        raise Broken(f"unknown mark {' '.join(block.marks)}")
    for line in block.text.replace("\\\n", " ").splitlines():
        if not line.startswith(RUNS):
            continue
        status, page.printed = run(page, ["sh", "-c", line])
        if status != 0:
            raise Broken(f"exit {status} of `{line}`\n{page.printed}")
        promised = re.search(r"# prints (.*)", line)
        if promised and promised.group(1).strip() != page.printed.strip():
            raise Broken(f"`{line}` printed {page.printed.strip()}")


def check_text(page, block):
    if block.marks not in ([], ["output"]):
        raise Broken("unknown mark")
    if block.marks and not follows(block.text, page.printed):
        raise Broken(f"other text was printed:\n{page.printed}")


def missing_links(path):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [link for link in links if ":" not in link and not (path.parent / link).exists()]


def missing_options(path, tools):
    """Options of the verbs that the page of the command line does not have."""
    text = path.read_text()
    ask = lambda *words: subprocess.run([tools["tilec"], *words, "--help"], text=True, capture_output=True).stdout
    verbs = re.findall(r"^  (\w+) {3,}", ask().partition("Subcommands:")[2], re.MULTILINE)
    for verb in verbs:
        for option in re.findall(r"^  (?:-\w,)?--([\w-]+)", ask(verb), re.MULTILINE):
            if option != "help" and not re.search(rf"-{option}(?![\w-])", text):
                yield f"{verb} --{option}"
    yield from (verb for verb in verbs if f"`{verb}`" not in text)


CHECKS = {"tile": check_tile, "c": check_c, "sh": check_sh, "text": check_text}


def check_page(path, tools):
    """(passed, failed) of a page."""
    counts = [0, 0]
    missing = missing_links(path)
    if path.name == "command-line.md":
        missing += sorted(set(missing_options(path, tools)))
    for name in missing:
        counts[1] += 1
        print(f"{path.relative_to(ROOT)}: {name} is missing")
    with tempfile.TemporaryDirectory() as folder:
        page = Page(pathlib.Path(folder), tools)
        for link, tool in (("bin/tilec", "tilec"), ("bin/cc", "cc"), ("build/bin/tilec", "tilec")):
            (page.folder / link).parent.mkdir(parents=True, exist_ok=True)
            (page.folder / link).symlink_to(tools[tool])
        for block in blocks_of(path):
            if block.language not in CHECKS:
                continue
            try:
                CHECKS[block.language](page, block)
                counts[0] += 1
            except (Broken, subprocess.TimeoutExpired) as broken:
                counts[1] += 1
                print(f"{path.relative_to(ROOT)}:{block.line}: {block.language} {' '.join(block.marks)}: {broken}")
    return counts


def main():
    tilec, cc, *names = sys.argv[1:]
    found = subprocess.run(["sh", "-c", 'command -v "$1"', "sh", cc], text=True, stdout=subprocess.PIPE).stdout.strip()
    tools = {"tilec": pathlib.Path(tilec).resolve(), "cc": found or cc}
    pages = [ROOT / name for name in names] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    results = [check_page(page, tools) for page in pages]
    passed, failed = (sum(r[i] for r in results) for i in (0, 1))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
