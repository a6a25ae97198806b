#!/usr/bin/env python3
"""The Python package as a user meets it: tests/python_package.py TRAINWIRE."""
import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["TRAINWIRE"] = sys.argv[1]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import trainwire as tw  # noqa: E402

SMALL = {"name": "two ranks", "network": {"hosts": 2},
         "job": [{"parameters": "1MB", "compute": "none", "steps": 5}]}


def raised(code, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except tw.TrainwireError as error:
        assert error.code == code, (error.code, str(error))
        return error
    raise AssertionError(f"{function.__name__} did not fail")


def test_plan():
    # A ring of four moves 2 (N - 1) M in all: 6 x 1 MB.
    plan = tw.plan(SMALL, set={"network.hosts": 4})
    assert plan.at("jobs.0.step.total_bytes") == 6_000_000, plan.at("jobs.0.step")
    assert plan.at("jobs.7.step", "none") == "none"
    assert tw.plan("[network]\nhosts = 3\n[[job]]\nmodel = \"resnet50\"\n")["jobs"][0]["ranks"] == 3


def test_errors_are_the_programs_sentence():
    error = raised(2, tw.plan, {"network": {"rat": "1Gbit"}})
    assert 'did you mean "rate"?' in str(error) and not str(error).startswith("trainwire:"), str(error)
    assert "/nowhere.toml" in str(raised(3, tw.plan, "/nowhere.toml"))
    failed = dict(SMALL, expect=[{"of": "plan", "metric": "jobs.0.step.total_bytes", "equals": 1}])
    error = raised(1, tw.plan, failed)
    assert error.result["expectations"][0]["found"] == 2_000_000, error.result
    raised(3, tw.load, "/nowhere.run")


def test_run(folder):
    run = tw.run(SMALL, on="loopback", out=folder / "a.run", set={"job.steps": 6})
    assert run.is_complete and run.all_ok, run.checks
    assert run.page == folder / "a.run" / "report.html"
    steps = run.steps
    assert {row["step"] for row in steps if row["step"] >= 0} == set(range(6))
    assert isinstance(steps[0]["start_ns"], int) and isinstance(steps[0]["phase"], str), steps[0]
    assert len(run["jobs.0.step.times_s"]) == 6
    assert run.at("jobs.0.strategy") == "ring"
    assert "<table>" in steps._repr_html_() and "a.run" in run._repr_html_()
    try:
        run.nothing
    except AttributeError as error:
        assert "it has" in str(error)
    second = tw.run(SMALL, steps=6, on="loopback", out=folder / "b.run")
    assert tw.compare(run, second)["comparisons"], tw.compare(run, second)
    assert tw.report(run, second, out=folder / "both.html").stat().st_size > 10_000
    assert tw.export(run, ["csv"], out=folder / "export")["files"]
    raised(3, tw.run, SMALL, on="loopback", out=folder / "a.run")
    tw.run(SMALL, on="loopback", out=folder / "a.run", force=True)


def test_failed_run_keeps_its_result(folder):
    wrong = dict(SMALL, expect=[{"of": "run", "metric": "jobs.0.steps", "equals": 9}])
    error = raised(1, tw.run, wrong, on="loopback", out=folder / "wrong.run")
    assert error.result.at("jobs.0.steps") == 5, error.result


def test_sweep(folder):
    sweep = dict(SMALL, sweep={"job.parameters": ["1MB", "2MB"]})
    run = tw.run(sweep, on="loopback", out=folder / "sweep.run")
    assert [point.at("jobs.0.gradient_bytes") for point in run.points()] == [1_000_000, 2_000_000]
    assert len(run.table("points")) == 2


def test_analyze(folder):
    run = tw.analyze(ROOT / "tests/captures/ddp3_slow_ingress.pcap.zst", out=folder / "slow.run",
                     cut=f"finding:1={folder}/slow.pcapng")
    slow = run["bottleneck"]
    assert run.findings[0]["filter"] == f"ip.src == {slow['from']} && ip.dst == {slow['to']}"
    assert (folder / "slow.pcapng").stat().st_size > 1000
    assert sum(run.flows.column("packets")) == run["capture.packets"]
    assert all(row["class"] == "gradient" for row in run.flows.where(**{"class": "gradient"}))


def test_tables_are_read_as_they_were_written(folder):
    # "'=x" says text to spreadsheets; an apostrophe of its own stays.
    (folder / "run.json").write_text("{}")
    (folder / "flows.csv").write_text("flow,source,class\n7,'=1+1,'quoted'\n8,,-\n")
    rows = tw.load(folder).flows
    assert [row["source"] for row in rows] == ["=1+1", ""] and rows[0]["class"] == "'quoted'" and rows[0]["flow"] == 7, rows


def test_words(folder):
    text = tw.new(hosts=3, rate="500Mbit", link=["host1:to:120Mbit"])
    assert tw.show(text).at("experiment.network.hosts.value") == 3
    path = tw.new(out=folder / "new.toml", hosts=5)
    assert tw.plan(path).at("jobs.0.ranks") == 5
    raised(3, tw.new, out=folder / "new.toml")
    assert tw.explain("network.rate")[0]["value"] == "rate"
    assert len(tw.strategies()) == 16 and len(tw.models()) >= 20 and len(tw.schema()) > 100


def test_pandas():
    table = tw.Table([{"a": 1, "b": 2.5}, {"a": 2, "b": None}])
    try:
        import pandas  # noqa: F401
    except ImportError:
        print("not tried: Table.df(), for pandas is not installed")
        try:
            table.df()
        except ImportError as error:
            assert "pip install pandas" in str(error)
        return
    assert list(table.df()["a"]) == [1, 2]


def test_notebook():
    for path in (ROOT / "examples").rglob("*.ipynb"):
        notebook = json.loads(path.read_text())
        assert notebook["nbformat"] == 4, path
        for cell in notebook["cells"]:
            assert cell["cell_type"] in ("markdown", "code") and isinstance(cell["source"], list), cell
            if cell["cell_type"] == "code":
                assert not any(output["output_type"] == "error" for output in cell["outputs"]), cell
                compile("".join(cell["source"]), str(path), "exec")


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            takes_folder = test.__code__.co_argcount > 0
            test(*([pathlib.Path(folder)] if takes_folder else []))
    print(f"python: {len(tests)} tests")


main()
