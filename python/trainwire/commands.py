# SPDX-License-Identifier: Apache-2.0
"""The program's commands as functions."""
import json
import pathlib

from . import program
from .results import Document, Run, Table


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _sections(table, path):
    """Lines of a TOML table: its values first, then its tables and lists of tables."""
    lines = [f"{json.dumps(key)} = {_toml(value)}" for key, value in table.items() if not _is_section(value)]
    for key, value in table.items():
        below = [*path, json.dumps(key)]
        if isinstance(value, dict):
            lines += [f"[{'.'.join(below)}]", *_sections(value, below)]
        elif _is_section(value):
            for entry in value:
                lines += [f"[[{'.'.join(below)}]]", *_sections(entry, below)]
    return lines


def _is_section(value):
    return isinstance(value, dict) or (isinstance(value, (list, tuple)) and bool(value) and
                                       all(isinstance(entry, dict) for entry in value))


def _experiment(experiment):
    """(word for the command line, standard input, name): of a path, of TOML text, or of a dict."""
    if isinstance(experiment, dict):
        return "-", "\n".join(_sections(experiment, [])) + "\n", str(experiment.get("name") or "experiment")
    if isinstance(experiment, str) and "\n" in experiment:
        return "-", experiment, "experiment"
    path = pathlib.Path(experiment)
    named_by_folder = path.name == "experiment.toml" and path.parent.name
    return str(experiment), None, path.parent.name if named_by_folder else path.stem


def _settings(settings):
    words = []
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={value if isinstance(value, str) else _toml(value)}"]
    return words


def _flags(flags):
    """hosts=4 -> --hosts 4; core_rate -> --core-rate; a list repeats; True is the flag alone; None is not given."""
    words = []
    for name, value in flags.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None or one is False:
                continue
            words += [option] if one is True else [option, str(one)]
    return words


def _new_folder(out, name, force):
    """As the program names it: NAME.run, with a number when that is there."""
    if out is not None:
        return str(out)
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in name) or "experiment"
    number, folder = 1, f"{name}.run"
    while not force and pathlib.Path(folder).exists():
        number += 1
        folder = f"{name}-{number}.run"
    return folder


def _run_in(folder, *words, text=None, verbose=False, force=False):
    """A command that leaves a run folder. One that failed and left one all the same has it in its error."""
    rest = ["--force"] if force else []
    end = words.index("--") if "--" in words else len(words)
    words = [*words[:end], "-o", folder, "--json", *rest, *words[end:]]
    try:
        program.call(*words, text=text, verbose=verbose)
    except program.TrainwireError as error:
        if error.code in (1, 4, 130) and (pathlib.Path(folder) / "run.json").is_file():
            error.result = Run(folder)
        raise
    return Run(folder)


def run(experiment, set=None, steps=None, out=None, force=False, verbose=False, **flags):
    """Trains on an emulated network and returns a Run; a sweep's has points(). `experiment` is a path, TOML text or a
    dict. Further flags are the command's: on="loopback", keep=True, accept_network=True, keep_going=True, no_page=True."""
    word, text, name = _experiment(experiment)
    return _run_in(_new_folder(out, name, force), "run", word, *_settings(set), *_flags({"steps": steps, **flags}),
                   text=text, verbose=verbose, force=force)


def exec(command, experiment=None, set=None, out=None, force=False, verbose=False, **flags):
    """Runs a program (a list of words) on an emulated network and returns a Run. Without an experiment the flags
    describe the network: hosts=4, rate="500Mbit", link=["host1:to:120Mbit"], launcher="torchrun"."""
    word, text, name = _experiment(experiment) if experiment is not None else (None, None, "trainwire")
    first = [word] if word is not None else []
    return _run_in(_new_folder(out, name, force), "exec", *first, *_settings(set), *_flags(flags), "--",
                   *map(str, command), text=text, verbose=verbose, force=force)


def analyze(*captures, out=None, force=False, verbose=False, **flags):
    """Reads captures and returns a Run. Flags: log=, hosts=, filter=, window=, cut=["finding:1=x.pcapng"],
    one_clock=True, strict=True."""
    name = pathlib.Path(captures[0]).name
    for ending in (".zst", ".gz", ".pcapng", ".pcap", ".cap"):
        name = name[:-len(ending)] if name.endswith(ending) else name
    return _run_in(_new_folder(out, name, force), "analyze", *captures, *_flags(flags), verbose=verbose, force=force)


def plan(experiment, set=None):
    """What a job will put on the network: a Document."""
    word, text, _ = _experiment(experiment)
    return Document(program.document("plan", word, *_settings(set), text=text))


def show(experiment, set=None):
    """The experiment with every default and derived value: a Document."""
    word, text, _ = _experiment(experiment)
    return Document(program.document("show", word, *_settings(set), text=text))


def new(out=None, **flags):
    """An experiment from a few flags (hosts=8, topology="leafspine", model="gpt2", link=[...]): its text, or, with
    `out`, the path of the file that was written."""
    words = ["new", *_flags(flags)]
    if out is None:
        return program.call(*words)[0]
    program.call(*words, "-o", out)
    return pathlib.Path(out)


def _folders(runs):
    return [str(one.path) if isinstance(one, Run) else str(one) for one in runs]


def compare(*runs, **flags):
    """Runs side by side: a Document. Flags: metric=["step"], fail_if="+5%"."""
    return Document(program.document("compare", *_folders(runs), *_flags(flags)))


def fit(source, **flags):
    """A model through a sweep (a Run or its folder) or a CSV table: a Document. Flags: model=, x=, y=, at=, capacity=."""
    return Document(program.document("fit", *_folders([source]), *_flags(flags)))


def report(*runs, out=None):
    """Writes one HTML page of runs and returns its path."""
    out = pathlib.Path(out if out is not None else pathlib.Path(_folders(runs)[0]) / "report.html")
    program.call("report", *_folders(runs), "-o", out)
    return out


def export(run, to, out=None, **flags):
    """Writes a run as csv, json, parquet, sqlite, perfetto, chrome or figures: a Document that names the files."""
    formats = to if isinstance(to, str) else ",".join(to)
    return Document(program.document("export", *_folders([run]), "--to", formats, *_flags({"out": out, **flags})))


def explain(word=None):
    """What a key, check, finding, column or strategy means; every word without one: a Table."""
    return Table(program.document("explain", *([word] if word else []))["entries"])


def models():
    """The models: a Table, without their layers."""
    entries = program.document("models")["models"]
    return Table([{key: value for key, value in entry.items() if key != "layers"} for entry in entries])


def strategies():
    """The strategies: a Table."""
    return Table(program.document("strategies")["strategies"])


def schema():
    """Every column of every table: a Table."""
    return Table([{"table": table["name"], **column} for table in program.document("schema")["tables"]
                  for column in table["columns"]])
