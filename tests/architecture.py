#!/usr/bin/env python3
"""The map in docs/architecture.md is the tree: tests/architecture.py ROOT [--print].

What a module declares in its CMakeLists.txt (an undeclared include does not compile) is what the map's table says;
every module has its line in the tree; no folder is larger than a person can overlook; engines meet in what they share
and never use one another. --print writes the table for the document.
"""
import pathlib
import re
import sys

LARGEST_FOLDER = 45
# What says how a job goes: each by its own means. None may use another.
ENGINES = {
    "packets": {"gather", "rhythm", "recognise", "diagnose"},
    "computing": {"predict"},
    "running": {"trainer", "testbed", "lab"},
}
# What shows and compares runs, whoever made them.
READERS = {"record", "report", "exports", "serve", "study"}


def declared(root):
    """Module -> the modules it declares, in the order of the build."""
    text = (root / "CMakeLists.txt").read_text()
    order = re.findall(r"\bsrc/(\w+)", text)
    result = {}
    for module in order:
        listing = (root / "src" / module / "CMakeLists.txt").read_text()
        found = re.search(r"tw_module\(%s\b.*?\bDEPS\s+([\w\s]*?)(?:\n\s*(?:TEST_DEPS|LIBS)|\))" % module, listing, re.S)
        result[module] = found.group(1).split() if found else []
    return result


def closure(modules, start):
    reached, todo = set(), [start]
    while todo:
        for used in modules[todo.pop()]:
            if used not in reached:
                reached.add(used)
                todo.append(used)
    return reached


def rows(modules):
    """The table's rows: what a module uses beyond base."""
    for module, uses in modules.items():
        others = [used for used in sorted(uses) if used != "base"]
        yield f"| `{module}` | {', '.join(others) if others else 'base' if 'base' in uses else 'nothing'} |"


def problems(root):
    modules = declared(root)
    document = (root / "docs" / "architecture.md").read_text()
    for folder in sorted(p.name for p in (root / "src").iterdir() if p.is_dir()):
        if folder not in modules:
            yield f"src/{folder} is not in the build's list of modules"
    position = {module: i for i, module in enumerate(modules)}
    for module, uses in modules.items():
        for used in uses:
            if used not in position:
                yield f"{module} declares {used}, which is no module"
            elif position[used] >= position[module]:
                yield f"{module} declares {used}, which is built after it"
        files = [p for p in (root / "src" / module).rglob("*") if p.is_file() and p.name != "CMakeLists.txt"]
        if len(files) > LARGEST_FOLDER:
            yield f"src/{module} has {len(files)} files, more than {LARGEST_FOLDER}: two concerns in one room?"
        if not re.search(r"^  %s/ +\S" % module, document, re.M):
            yield f"docs/architecture.md: the tree has no line for {module}/"
    stated = re.findall(r"^\| `\w+` \| .* \|$", document, re.M)
    for row in rows(modules):
        if row not in stated:
            yield f"docs/architecture.md: the table lacks the row {row}"
    for row in stated:
        if row not in set(rows(modules)):
            yield f"docs/architecture.md: the tree has no such row: {row}"
    for name, engine in ENGINES.items():
        for other in (o for n, o in ENGINES.items() if n != name):
            for module in sorted(engine - {"lab"}):
                for used in sorted(closure(modules, module) & other):
                    yield f"{module} uses {used}: engines meet in workload, network and record only"
    for reader in sorted(READERS & modules.keys()):
        for used in sorted(closure(modules, reader) & set().union(*ENGINES.values())):
            yield f"{reader} uses {used}: what shows runs knows no engine"


def main():
    root = pathlib.Path(sys.argv[1])
    if "--print" in sys.argv:
        print("| module | uses |\n|---|---|")
        print("\n".join(rows(declared(root))))
        return 0
    found = list(problems(root))
    print("\n".join(found))
    print(f"architecture: {len(declared(root))} modules, {len(found)} problems")
    return 1 if found else 0


sys.exit(main())
