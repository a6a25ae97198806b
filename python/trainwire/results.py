# SPDX-License-Identifier: Apache-2.0
"""What commands return: documents, tables, runs."""
import csv
import functools
import html
import json
import pathlib
import re

from . import program


class Document(dict):
    """A command's JSON document. `at("jobs.0.step.median_s")` follows a path."""

    def at(self, path, otherwise=None):
        value = self
        for part in path.split("."):
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]
            except (KeyError, IndexError, ValueError, TypeError):
                return otherwise
        return value


class Table(list):
    """Rows as dicts with typed values: int, float, str, or None where the table has nothing."""

    def __init__(self, rows=(), columns=(), name=""):
        super().__init__(rows)
        self.columns = list(columns) or (list(self[0]) if self else [])
        self.name = name

    def column(self, name):
        """One column as a list."""
        return [row[name] for row in self]

    def where(self, **values):
        """The rows in which these columns have these values."""
        return Table([row for row in self if all(row[key] == value for key, value in values.items())], self.columns,
                     self.name)

    def df(self):
        """The same for pandas, which must be installed."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Table.df() needs pandas (pip install pandas); the table itself is a list of dicts") from error
        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self, most=20):
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in self.columns)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(_shown(row[name]))}</td>" for name in self.columns) + "</tr>"
                       for row in self[:most])
        rest = f"<p>and {len(self) - most} more rows</p>" if len(self) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}"


def _shown(value):
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@functools.lru_cache(maxsize=None)
def _types(asked):
    """Table -> column -> type, as the program has it. `asked` is the program, so that another one is asked anew."""
    del asked
    tables = program.document("schema")["tables"]
    return {table["name"]: {column["name"]: column["type"] for column in table["columns"]} for table in tables}


def _bare(text):
    """Without the apostrophe that the program puts before what a spreadsheet would take for a formula."""
    rest = text.lstrip("'")
    is_formula = len(rest) > 1 and rest[0] in "=+-@\t\r" and not re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?%?", rest)
    return text[1:] if rest != text and is_formula else text


def _typed(text, kind):
    text = _bare(text)
    if text == "":
        return "" if kind == "text" else None
    try:
        return int(text) if kind == "integer" else float(text) if kind == "real" else text
    except ValueError:
        return text


def _number_or_text(text):
    """For columns that the schema does not name: settings of a sweep."""
    text = _bare(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text != "" else None


def _table(path, name):
    kinds = _types(program.find_program()).get(name, {})
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or []
        rows = [{column: _typed(row[column], kinds[column]) if column in kinds else _number_or_text(row[column] or "")
                 for column in columns} for row in reader]
    return Table(rows, columns, name)


class Run:
    """A run folder: its document, its tables, its page.

    `run["iterations.median_s"]` is a member of the document that the command prints with --json, `run.flows` a table
    (run.tables lists them), `run.page` the path of report.html or None, `run.provenance` what made it.
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        file = self.path / "run.json"
        try:
            self.file = Document(json.loads(file.read_text(encoding="utf-8")))
        except OSError as error:
            raise program.TrainwireError(f"opening {file}: {error.strerror}; is it a run folder?", 3) from error
        except ValueError as error:
            raise program.TrainwireError(f"reading {file}: it is no JSON document; was the run killed?", 3) from error
        self.document = Document(self.file.get("summary") or {})
        self._read = {}

    @property
    def provenance(self):
        """Command line, version, commit, inputs with their hashes, start."""
        return self.file.get("provenance", {})

    @property
    def tables(self):
        """Names of the tables that the folder has."""
        return sorted(path.stem for path in self.path.glob("*.csv"))

    def table(self, name):
        if name not in self._read:
            path = self.path / f"{name}.csv"
            if not path.is_file():
                raise KeyError(f"{self.path} has no table {name}; it has {', '.join(self.tables) or 'none'}")
            self._read[name] = _table(path, name)
        return self._read[name]

    def __getattr__(self, name):
        if name.startswith("_") or name in ("document", "file", "path"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def __getitem__(self, key):
        found = self.document.at(key, KeyError)
        if found is KeyError:
            raise KeyError(key)
        return found

    def at(self, path, otherwise=None):
        """A member of the document by its path: "jobs.0.step.median_s"."""
        return self.document.at(path, otherwise)

    @property
    def page(self):
        page = self.path / "report.html"
        return page if page.is_file() else None

    @property
    def is_complete(self):
        return bool(self.file.get("complete", False))

    @property
    def checks(self):
        return Table(self.document.get("checks", []))

    @property
    def findings(self):
        return Table(self.document.get("findings", []))

    @property
    def all_ok(self):
        """Whether no check failed."""
        return all(check.get("ok", False) for check in self.checks)

    def points(self):
        """The runs of a sweep, a Run for each point that has a folder."""
        return [Run(self.path / point["folder"]) for point in self.document.get("points", [])
                if point.get("folder") and (self.path / point["folder"] / "run.json").is_file()]

    def __repr__(self):
        made = self.file.get("command", "run")
        whole = "" if self.is_complete else ", not complete"
        return f"<trainwire {made} {self.path}{whole}: {', '.join(self.tables)}>"

    def _repr_html_(self):
        items = "".join(f"<li>{html.escape(str(finding.get('text', '')))}</li>" for finding in self.findings)
        failed = [check["name"] for check in self.checks if not check.get("ok", False)]
        verdict = f"<p>failed checks: {html.escape(', '.join(failed))}</p>" if failed else ""
        page = f"<p>page: {html.escape(str(self.page))}</p>" if self.page else ""
        return f"<p><b>{html.escape(str(self.path))}</b></p><ol>{items}</ol>{verdict}{page}"


def load(path):
    """A run folder that is there already."""
    return Run(path)
