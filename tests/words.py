#!/usr/bin/env python3
"""Documents and texts name only commands and options that exist, and every check has words: tests/words.py TRAINWIRE ROOT.

Looked at: code spans and code blocks of every document, and texts and comments of sources where they quote a command line
(`trainwire ...`) or say what is next ("next: trainwire ..."). What is behind " -- " is another program's.
"""
import pathlib
import re
import subprocess
import sys

TRAINWIRE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
# What the design promises and the program does not have: naming it as if it were there is a dead end.
ABSENT = ["simulate it", "predicted, simulated"]
# Words of a line that are no command line: what stands behind "trainwire" in prose.
COMMAND_LINE = re.compile(r"(?:\./|build/release/)?\btrainwire ((?:[a-z]|--)[^`\"\n]*)")


def commands():
    """Command -> its options, as the manual has them."""
    page = subprocess.run([TRAINWIRE, "man"], stdout=subprocess.PIPE, text=True, check=True).stdout.replace("\\-", "-")
    found = {}
    body = page.split(".SH COMMANDS")[1].split(".SH FILES")[0]
    for section in body.split(".SS ")[1:]:
        options = re.findall(r"^\\fB(-[^\\\n]*)", section, re.M)
        found[section.split("\n", 1)[0]] = {name for names in options for name in names.split(",")}
    return found


def spans_of(document):
    """Texts of a document in which a command line is one: (line number, text)."""
    in_block = False
    for number, line in enumerate(document.split("\n"), 1):
        if line.startswith("```"):
            in_block = not in_block
        elif in_block:
            command = re.match(r"^(?:\$ |(?:[A-Z_]+=\S+ )+)?((?:\./)?trainwire .*)", line)
            if command:
                yield number, command.group(1)
        else:
            for span in re.findall(r"`((?:\./)?trainwire [^`]*)`", line):
                yield number, span


def quotes_of(source):
    """The same of a source: what stands in backquotes, or behind "next:"."""
    for number, line in enumerate(source.split("\n"), 1):
        for quote in re.findall(r"`(trainwire [^`\"]*)[`\"]|next: (trainwire [^\"\\]*)", line):
            yield number, quote[0] or quote[1]


def problems_of(text, known):
    for found in COMMAND_LINE.finditer(text):
        words = found.group(1).split("  #")[0].split(" -- ")[0].split(" > ")[0].split(" | ")[0].split()
        name = words[0].strip(".,;:()")
        if name.startswith("-") or not name:
            continue
        for one in name.split("|"):
            if one not in known:
                yield f'there is no command "{one}"'
                continue
            for word in words[1:]:
                option = re.match(r"^(--[a-z][a-z-]*)", word)
                if option and option.group(1) not in known[one]:
                    yield f'{one} has no option "{option.group(1)}"'


def unexplained_checks():
    """Checks that runs have and `trainwire explain` does not know."""
    for path in (ROOT / "src" / "lab").glob("*.cc"):
        if path.name.endswith("_test.cc"):
            continue
        for name in re.findall(r'\.name = "(\w+)"', path.read_text()):
            done = subprocess.run([TRAINWIRE, "explain", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            if f"check: {name}\n" not in done.stdout:
                yield f"{path.relative_to(ROOT)}: the check {name} has no words in src/record/check_kinds.cc"


def main():
    known = commands()
    assert len(known) > 20 and "--set" in known["plan"], known
    failed, looked = list(unexplained_checks()), 0
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md"),
                 *(ROOT / "reproductions").rglob("*.md")]
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")]
    for path in [*documents, *sources]:
        text = path.read_text()
        for number, span in (spans_of if path.suffix == ".md" else quotes_of)(text):
            looked += 1
            failed += [f"{path.relative_to(ROOT)}:{number}: {problem}: {span}" for problem in problems_of(span, known)]
        failed += [f'{path.relative_to(ROOT)}: "{phrase}": no such command' for phrase in ABSENT if phrase in text]
    print("\n".join(failed))
    print(f"words: {looked} command lines, {len(failed)} problems")
    sys.exit(1 if failed or looked < 100 else 0)


main()
