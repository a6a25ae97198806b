# SPDX-License-Identifier: Apache-2.0
"""trainwire from Python: the program's commands as functions, its results as tables.

    import trainwire as tw
    run = tw.run("job.toml", set={"network.loss": "0.1%"}, steps=20)
    run.steps                 # a list of dicts, values as numbers
    run.steps.df()            # the same for pandas, where it is installed
    run["iterations"]["median_s"]   # anything of the program's JSON document
    run.page                  # report.html

Nothing is computed here: every function starts the program `trainwire` (see find_program) and reads what it wrote. What
the program refuses is a TrainwireError with its sentence and exit code. docs/python.md has the whole.
"""
from .commands import (analyze, compare, exec, explain, export, fit, models, new, plan, report, run, schema, show,
                       strategies)
from .program import TrainwireError, call, find_program
from .results import Document, Run, Table, load

__all__ = ["Document", "Run", "Table", "TrainwireError", "analyze", "call", "compare", "exec", "explain", "export",
           "find_program", "fit", "load", "models", "new", "plan", "report", "run", "schema", "show", "strategies"]
