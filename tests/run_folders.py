#!/usr/bin/env python3
"""What a run writes stays in its folder, belongs to one run, and is not lost: run_folders.py PROGRAM.

On loopback: no privileges, no network.
"""

import csv
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.realpath(sys.argv[1])

EXPERIMENT = """name = "folders"
[network]
hosts = 2
[[job]]
name = {name}
parameters = "50KB"
compute = "none"
steps = {steps}
"""

# As TOML writes them.
HOSTILE = [
    '"../../OUT"', '"/OUT"', '"a/b/c"', '"."', '".."', '"-rf"', '"~"', '"$(touch OUT)"', '"`touch OUT`"', '"a;b|c&d"',
    '"=1+1"', '"@SUM(1)"', '"<script>alert(1)</script>"', '"\'\\"\'"', '"%s%n"', '"a\\nb"', '"a\\tb"', '"\\u202Ebidi"',
    '"' + "x" * 300 + '"', '"' + "x" * 4000 + '"', '"CON"', '"nul\\u0001"',
]


def run(*words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, **options)


def files_of(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def names_stay_inside(work):
    inner = work / "a/b"
    inner.mkdir(parents=True)
    for number, name in enumerate(HOSTILE):
        file = work / "experiment.toml"
        file.write_text(EXPERIMENT.format(name=name, steps=2))
        folder = inner / f"{number}.run"
        before = set(work.rglob("*"))
        done = run("run", str(file), "--on", "loopback", "-q", "-o", str(folder), cwd=inner)
        assert done.returncode in (0, 2), (name, done.returncode, done.stderr)
        assert done.returncode == 0 or done.stderr.count("\n") >= 1, name
        strangers = [path for path in set(work.rglob("*")) - before if folder != path and folder not in path.parents]
        assert not strangers, (name, strangers)
        if done.returncode == 0:
            assert not list(folder.glob("*.tmp")), name


def a_link_is_not_written_through(work):
    file = work / "link.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=2))
    victim = work / "victim"
    victim.write_text("precious")
    folder = work / "link.run"
    run("run", str(file), "--on", "loopback", "-q", "-o", str(folder))
    for name in ("steps.csv", "rank0.txt", "job0-rank0-steps.tmp", "live.jsonl", "run.json.part"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(victim)
    done = run("run", str(file), "--on", "loopback", "-q", "-o", str(folder), "--force")
    assert done.returncode == 0, done.stderr
    assert victim.read_text() == "precious"


def a_link_is_not_published(work):
    folder = work / "link.run"
    secret = work / "secret"
    secret.write_text("folder,settings,complete\nTOP-SECRET,a=1,1\n")
    (folder / "points.csv").symlink_to(secret)
    page = work / "page.html"
    run("report", str(folder), "-o", str(page))
    assert page.exists() and "TOP-SECRET" not in page.read_text()


def a_folder_has_one_writer(work):
    file = work / "long.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=10_000_000))
    folder = work / "long.run"
    words = [PROGRAM, "run", str(file), "--on", "loopback", "-q", "-o", str(folder), "--no-page"]
    first = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            if (folder / "live.jsonl").exists():
                break
            time.sleep(0.05)
        second = run("run", str(file), "--on", "loopback", "--steps", "2", "-o", str(folder), "--force")
        assert second.returncode == 3 and "another trainwire is writing it" in second.stderr, second
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
    assert first.returncode == 130, first.returncode
    third = run("run", str(file), "--on", "loopback", "-q", "--steps", "2", "-o", str(folder), "--force")
    assert third.returncode == 0, third.stderr


def a_finished_sweep_is_left_alone(work):
    file = work / "sweep.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=3) + '[sweep]\n"network.loss" = ["0.01%", "0.1%", "1%"]\n')
    folder = work / "sweep.run"
    assert run("run", str(file), "--on", "loopback", "-q", "-o", str(folder)).returncode == 0
    # Every point has its page, and that of the sweep leads there.
    assert all((folder / f"point-00{i}" / "report.html").exists() for i in range(3))
    assert '"pages":[true,true,true]' in (folder / "report.html").read_text()
    fitted = run("fit", str(folder), "--x", "network.loss", "--y", "step_mean_s", "--model", "linear")
    assert fitted.returncode == 0 and "holds for x from 0.0001 to 0.01" in fitted.stdout, fitted
    before = files_of(folder)
    again = run("run", str(file), "--on", "loopback", "-q", "-o", str(folder), "--no-page")
    assert again.returncode == 0 and "all 3 points are there" in again.stderr, again
    assert files_of(folder) == before
    # One more point runs alone.
    longer = file.read_text().replace('"1%"]', '"1%", "2%"]')
    file.write_text(longer)
    assert run("run", str(file), "--on", "loopback", "-q", "-o", str(folder)).returncode == 0
    after = files_of(folder)
    points = [path for path in before if "point-" in str(path)]
    assert points and all(after[path] == before[path] for path in points)


def rows_of(folder):
    with open(folder / "points.csv", newline="") as file:
        return list(csv.DictReader(file))


def a_sweep_goes_past_failures(work):
    """A point that fails does not end it; its reason stands beside the others' figures; --retry runs it again, and only it."""
    file = work / "failing.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=2) +
                    '[sweep]\n"job.steps, run.timeout" = [[2, "60s"], [10000000, "300ms"], [3, "60s"]]\n')
    folder = work / "failing.run"
    words = ["run", str(file), "--on", "loopback", "-q", "--no-page", "-o", str(folder)]
    dry = run(*words, "--dry-run")
    assert dry.returncode == 0 and "3 runs to come" in dry.stdout and not folder.exists(), dry
    done = run(*words)
    assert done.returncode == 4 and "no end after 300 ms" in done.stderr, done
    rows = rows_of(folder)
    assert [row["complete"] for row in rows] == ["1", "0", "1"], rows
    assert [bool(row["problem"]) for row in rows] == [False, True, False] and "no end after" in rows[1]["problem"], rows
    before = files_of(folder / "point-000") | files_of(folder / "point-002")
    again = run(*words, "--retry", "1")
    assert again.returncode == 4 and again.stderr.count("no end after 300 ms") == 2, again
    assert before == files_of(folder / "point-000") | files_of(folder / "point-002")
    dry = run(*words, "--dry-run")
    assert "1 run to come" in dry.stdout and dry.stdout.count("finished") == 2, dry


def repetitions_end_when_they_agree(work):
    """Of ten, from the third on; started again, nothing is run."""
    file = work / "repeated.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=3) + '[run]\nrepeat_until = 1.0\n[sweep]\n"network.hosts, job.ranks" = [[2, 2], [3, 3]]\n')
    folder = work / "repeated.run"
    words = ["run", str(file), "--on", "loopback", "-q", "--no-page", "-o", str(folder), "--set", 'job.compute="profile"', "--set", 'job.compute_time="20ms"']
    done = run(*words)
    assert done.returncode == 0, done
    settings = [row["settings"] for row in rows_of(folder)]
    assert 6 <= len(settings) < 20 and ["run.seed=1" in text for text in settings[:3]] == [True, True, False], settings
    again = run(*words)
    assert again.returncode == 0 and "points are there" in again.stderr, again


def a_killed_bench_is_swept(work):
    """What it prints into is known to cleanup, on loopback too."""
    temporary = work / "temporary"
    temporary.mkdir()
    environment = dict(os.environ, TMPDIR=str(temporary), TRAINWIRE_STATE=str(work / "state"))
    file = work / "bench.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=2))
    bench = subprocess.Popen([PROGRAM, "bench", "exchange", str(file), "--on", "loopback", "--repeats", "100000"], env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 30
    try:
        while not any(temporary.glob("trainwire-bench-*/*")):
            assert bench.poll() is None and time.monotonic() < limit
            time.sleep(0.02)
    finally:
        bench.kill()
        bench.wait()
    assert run("cleanup", env=environment).returncode == 0
    assert not list(temporary.iterdir()) and not list((work / "state").glob("*.json"))


def a_changed_table_is_refused(work):
    folder = work / "sweep.run"
    for name, words in (("points.csv", ["fit", str(folder), "--x", "network.loss", "--y", "step_mean_s", "--model", "linear"]),
                        ("points.csv", ["export", str(folder), "--to", "csv", "-o", str(work / "exported"), "--force"]),
                        ("points.csv", ["report", str(folder), "-o", str(work / "changed.html")]),
                        ("points.csv", ["compare", str(folder), str(folder)])):
        table = folder / name
        whole = table.read_text()
        for damaged in (whole[:-9], "", whole.replace("0.", "1.", 1), "\n".join(whole.splitlines()[:-1]) + "\n"):
            table.write_text(damaged)
            done = run(*words)
            assert done.returncode == 3 and name in done.stderr and done.stderr.count("\n") == 1, (words, done)
        table.write_text(whole)
        assert run(*words).returncode == 0, (words, run(*words))


def a_power_cut_is_told(work):
    """run.json is empty, zeros or torn: everybody who reads says so; a sweep does that point again, and nothing else."""
    folder = work / "sweep.run"
    document = folder / "run.json"
    whole = document.read_text()
    for cut in ("", "\0" * 100, whole[:len(whole) // 2]):
        document.write_text(cut)
        for words in (["report", str(folder), "-o", str(work / "cut.html")], ["compare", str(folder), str(folder)],
                      ["export", str(folder), "--to", "csv", "-o", str(work / "cut"), "--force"], ["predict", str(folder)],
                      ["fit", str(folder), "--x", "network.loss", "--y", "step_mean_s", "--model", "linear"]):
            done = run(*words)
            assert done.returncode == 3 and "power cut" in done.stderr and done.stderr.count("\n") == 1, (words, done)
        again = run("run", str(work / "sweep.toml"), "--on", "loopback", "-q", "-o", str(folder), "--no-page")
        assert again.returncode == 0 and document.read_text().startswith("{"), again
    before = files_of(folder)
    point = folder / "point-001" / "run.json"
    point.write_text("")
    again = run("run", str(work / "sweep.toml"), "--on", "loopback", "-q", "-o", str(folder), "--no-page")
    after = files_of(folder)
    assert again.returncode == 0 and point.stat().st_size > 0, again
    assert all(after[path] == before[path] for path in before if "point-000" in str(path) or "point-002" in str(path))


def what_cannot_end_is_refused(work):
    file = work / "slow.toml"
    file.write_text(EXPERIMENT.format(name='"x"', steps=1000).replace('compute = "none"', 'compute_time = "1s"'))
    folder = work / "slow.run"
    done = run("run", str(file), "--on", "loopback", "-o", str(folder))
    assert done.returncode == 2 and "--steps" in done.stderr and not folder.exists(), done


with tempfile.TemporaryDirectory(prefix="run-folders") as place:
    for case in (names_stay_inside, a_link_is_not_written_through, a_link_is_not_published, a_folder_has_one_writer,
                 a_finished_sweep_is_left_alone, a_changed_table_is_refused, a_power_cut_is_told, what_cannot_end_is_refused, a_sweep_goes_past_failures,
                 repetitions_end_when_they_agree, a_killed_bench_is_swept):
        case(pathlib.Path(place))
        print(f"{case.__name__}: ok")
