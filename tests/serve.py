#!/usr/bin/env python3
"""trainwire serve as browsers, programs and attackers meet it, over sockets of their own: serve.py TRAINWIRE."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PROGRAM = os.path.realpath(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parent.parent
top = pathlib.Path(tempfile.mkdtemp(prefix="serve-"))
started = []


class Server:
    def __init__(self, folder, *words):
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen([PROGRAM, "serve", str(folder), *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(self.process)
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        assert parts.hostname == "127.0.0.1", self.address
        self.port = parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        return connection

    def raw(self, data):
        """The whole answer to these bytes; what the server no longer takes is left."""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(data)
            return received(connection)

    def ask(self, target, method="GET", body=b"", **headers):
        """Status and document. A header that is None is left out."""
        fields = {"Host": f"127.0.0.1:{self.port}", "X-Trainwire-Token": self.token}
        if method == "POST":
            fields["Content-Length"] = str(len(body))
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = [f"{method} {target} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
        status, _, text = self.raw("\r\n".join(lines + ["", ""]).encode() + body)
        return status, json.loads(text)

    def status(self, target, method="GET", **headers):
        status, document = self.ask(target, method, **headers)
        assert status == 200 or len(document["error"]) > 20, document
        return status

    def end(self, number=signal.SIGINT):
        began = time.monotonic()
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, (self.process.returncode, out, errors)
        assert len(errors.splitlines()) == 1, errors
        return time.monotonic() - began


def received(connection):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while block := connection.recv(65536):
            data += block
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]) if lines[0] else 0, fields, body


def wait(what, find, seconds=60):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not in {seconds} s")


def chunked(*chunks):
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)


def upload_head(server, name, *lines):
    return "\r\n".join([f"POST /api/upload?name={name} HTTP/1.1", f"Host: 127.0.0.1:{server.port}",
                        f"X-Trainwire-Token: {server.token}", *lines, "", ""]).encode()


def write_run(folder, **more):
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"schema": 1, "program": "trainwire", "command": "run", **more}))


def strangers(server):
    """Who has no token, or comes from elsewhere, gets nothing."""
    assert server.status("/api/runs") == 200
    assert server.status("/api/runs", X_Trainwire_Token=None) == 403
    assert server.status("/api/runs?token=" + server.token, X_Trainwire_Token=None) == 403
    assert server.status("/api/runs", X_Trainwire_Token="0" * 32) == 403
    assert server.status("/api/upload?name=x", "POST", X_Trainwire_Token=None) == 403
    assert server.status("/", X_Trainwire_Token=None) == 403
    assert server.status("/?token=1") == 403
    for host in ["evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port}.evil.example"]:
        assert server.status("/api/runs", Host=host) == 403, host
        assert server.status("/?token=" + server.token, Host=host) == 403, host
    assert server.status("/api/runs", Host=None) == 403
    assert server.status("/api/runs", Host=f"localhost:{server.port}") == 200
    for origin in ["null", "http://evil.example", f"https://127.0.0.1:{server.port}", f"http://localhost:{server.port}"]:
        assert server.status("/api/runs", Origin=origin) == 403, origin
    assert server.status("/api/runs", Origin=f"http://127.0.0.1:{server.port}") == 200
    assert server.status("/api/runs", Sec_Fetch_Site="cross-site") == 403
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"]:
        status, _, _ = server.raw(f"{method} /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                                  f"X-Trainwire-Token: {server.token}\r\n\r\n".encode())
        assert status == 405, (method, status)
    assert server.status("/api/upload") == 405
    for path in ["/api/nothing", "/run.json", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/api/runs/x"]:
        assert server.status(path) == 404, path


def page(server):
    """The page may talk to its server only, and nobody may frame or keep it."""
    status, fields, body = server.raw(f"GET /?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    assert status == 200 and b'"serve":{"folder":' in body and b"connect-src 'self'" in body
    policy = fields["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "sha256-" in policy and policy.endswith("frame-ancestors 'none'"), policy
    assert fields["x-content-type-options"] == "nosniff" and fields["referrer-policy"] == "no-referrer"
    assert fields["cache-control"] == "no-store" and fields["cross-origin-resource-policy"] == "same-origin"
    assert fields["connection"] == "close" and fields["content-type"] == "text/html; charset=utf-8"
    assert server.token.encode() not in body


def ids(server, folder):
    """No id leads out of the folder."""
    write_run(top / "secret.run", complete=True)
    write_run(folder / "good.run", complete=True)
    (folder / "link.run").symlink_to(top / "secret.run")
    for path in ["/api/page", "/api/live"]:
        for outside in ["../secret.run", "%2e%2e/secret.run", "%2e%2e%2fsecret.run", "good.run/../../secret.run", "..",
                        str(top / "secret.run"), "%2Fetc", "link.run", "good.run/..%2f..%2fsecret.run"]:
            assert server.status(f"{path}?id={outside}") == 403, outside
        for none in ["", "good.run%00", "%00"]:
            assert server.status(f"{path}?id={none}") == 400, none
        for absent in ["absent", "..%5csecret.run", "%252e%252e/secret.run", "good.run/run.json", "%ff%fe", "a" * 300]:
            assert server.status(f"{path}?id={absent}") == 404, absent
        assert server.status(path) == 400
        assert server.status(f"{path}?id=good.run") == 200
    spellings = ["id=" + "./" * i + "good.run" for i in range(9)]
    assert server.status("/api/page?" + "&".join(spellings[:8])) == 200
    assert server.status("/api/page?" + "&".join(spellings)) == 400
    assert server.status("/api/live?" + "&".join(spellings[:2])) == 400
    for number in ["-1", "x", "1x", "99999999999999999999"]:
        assert server.status("/api/live?id=good.run&from=" + number) == 400, number
    listed = {run["id"]: run for run in server.ask("/api/runs")[1]["runs"]}
    assert set(listed) == {"good.run"} and listed["good.run"]["state"] == "complete", listed
    (folder / "good.run/run.json").write_text("[" * 500_000)
    assert server.status("/api/page?id=good.run") == 422
    assert server.ask("/api/runs")[1]["runs"][0]["state"] == "broken"
    shutil.rmtree(folder / "good.run")
    (folder / "link.run").unlink()


def silent(server):
    """Connections that say nothing, or half of something, keep nobody waiting."""
    idle = [server.connect() for _ in range(8)]
    for connection in idle[4:]:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
    began = time.monotonic()
    assert server.status("/api/runs") == 200
    assert time.monotonic() - began < 2, time.monotonic() - began
    # The server has enough of each after seconds.
    for connection in idle:
        connection.settimeout(20)
        received(connection)
        connection.close()
    # Bytes that are no request, and requests without measure.
    for data in [b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"x" * 100_000, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
                 f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX: {'a' * 100_000}\r\n\r\n".encode()]:
        status, _, _ = server.raw(data)
        assert status in (0, 400, 403, 408, 414, 431), (data[:20], status)
    assert server.status("/api/runs") == 200


def resident_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


def besieged(server):
    """Without the token nobody fills memory or keeps the owner out."""
    before = resident_bytes(server)
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for i in range(10_000):
                connection.sendall(b"X%07d: " % i + b"a" * 8000 + b"\r\n")
            raise AssertionError("80 MB of headers are taken")
    assert resident_bytes(server) - before < 20e6, (before, resident_bytes(server))
    # Three hundred that say a byte now and then: more than are held.
    dripping = [server.connect() for _ in range(300)]
    for byte in b"GET /":
        for connection in dripping:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(bytes([byte]))
        began = time.monotonic()
        assert server.status("/api/runs") == 200
        assert time.monotonic() - began < 2, time.monotonic() - began
        time.sleep(0.3)
    assert resident_bytes(server) - before < 20e6, (before, resident_bytes(server))
    for connection in dripping:
        connection.close()


def analyses_limited():
    """A capture that needs more than it may fails with one sentence, and the next one has its turn."""
    folder = top / "limited"
    capture = (SOURCE / "tests/captures/ddp2_mlp.pcap.zst").read_bytes()
    server = Server(folder, "--memory-limit", "16MB")
    task = analysed(server, "a.pcap.zst", capture)
    assert task["state"] == "failed" and "more than 16 MB of memory" in task["message"] and "--memory-limit" in task["message"], task
    assert left(folder) == [], left(folder)
    server.end()
    server = Server(folder, "--time-limit", "1s")
    # 20 GB of zeros after the capture's own header: seconds of work in 600 kB.
    bomb = subprocess.run(["zstd", "-q", "-1", "-c"], input=b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + b"\0" * 12 + b"\x01\0\0\0", capture_output=True).stdout
    bomb += 1200 * subprocess.run(["zstd", "-q", "-1", "-c"], input=b"\0" * 16_000_000, capture_output=True).stdout
    task = analysed(server, "bomb.pcap.zst", bomb)
    assert task["state"] == "failed" and "longer than 1 s" in task["message"], task
    assert analysed(server, "a.pcap.zst", capture)["state"] == "done"
    server.end()


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def uploads_refused(server, folder):
    """Nothing is stored of what is too large, cut off, or not a plain body. The server's limit is 1 MB."""
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Length="1000001") == 413
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Length="99999999999999999999") == 413
    began = time.monotonic()
    status, _, body = server.raw(upload_head(server, "x.pcap", "Content-Length: 1000001") + b"x" * 1000001)
    assert (status == 413 and b"--upload-limit" in body) and time.monotonic() - began < 2, (status, body)
    status, _, _ = server.raw(upload_head(server, "x.pcap", "Transfer-Encoding: chunked") + chunked(*[b"x" * 100_000] * 11, b""))
    assert status == 413, status
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Length=None) == 411
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Length="x") == 411
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Type="multipart/form-data; boundary=x") == 415
    assert server.status("/api/upload?name=x.pcap", "POST", Content_Encoding="gzip") == 415
    for head, body in [("Content-Length: 1000", b"x" * 500), ("Transfer-Encoding: chunked", chunked(b"x" * 500)),
                       ("Transfer-Encoding: chunked", b"zz\r\nx")]:
        with server.connect() as connection:
            connection.sendall(upload_head(server, "x.pcap", head) + body)
            if head.startswith("Content"):
                wait("an upload has begun", lambda: left(folder))
            connection.shutdown(socket.SHUT_WR)
            # Who has gone is not answered.
            assert received(connection)[0] in (0, 400)
    wait("nothing is left of uploads", lambda: not left(folder))
    assert server.ask("/api/tasks")[1]["tasks"] == []


def analysed(server, name, body, **headers):
    status, document = server.ask(f"/api/upload?name={name}", "POST", body, **headers)
    assert status == 202, (status, document)

    def ended():
        task = {task["task"]: task for task in server.ask("/api/tasks")[1]["tasks"]}[document["task"]]
        return task if task["state"] in ("done", "failed") else None
    return wait("the analysis", ended)


def uploads_analysed(server, folder):
    capture = (SOURCE / "tests/captures/ddp2_mlp.pcap.zst").read_bytes()
    task = analysed(server, "../my%20job.pcap.zst", capture)
    assert task["state"] == "done" and task["run"] == "my_job.run" and task["name"] == "my_job.pcap.zst", task
    assert (folder / "my_job.pcap.zst").read_bytes() == capture
    # Again, in chunks: nothing is overwritten.
    status, _, _ = server.raw(upload_head(server, "my_job.pcap.zst", "Transfer-Encoding: chunked") + chunked(capture[:1000], capture[1000:], b""))
    assert status == 202, status
    wait("the second run", lambda: all(task["state"] == "done" for task in server.ask("/api/tasks")[1]["tasks"]))
    runs = {run["id"]: run for run in server.ask("/api/runs")[1]["runs"]}
    assert set(runs) == {"my_job.run", "my_job-2.run"}, runs
    assert runs["my_job.run"]["state"] == "complete" and runs["my_job.run"]["command"] == "analyze", runs
    assert runs["my_job.run"]["hosts"] == 2 and runs["my_job.run"]["sparkline"], runs
    status, document = server.ask("/api/page?id=my_job.run&id=my_job-2.run")
    assert status == 200 and [run["label"] for run in document["runs"]] == ["my_job.run", "my_job-2.run"], document
    assert document["runs"][0]["throughput"] and len(document["comparisons"]) == 1, document.keys()
    # What is no capture fails with the analyser's words, and is removed.
    task = analysed(server, "garbage.pcap", b"this is no capture at all")
    assert task["state"] == "failed" and task["run"] is None and "garbage.pcap" in task["message"], task
    assert analysed(server, "empty.pcap", b"")["state"] == "failed"
    assert left(folder) == ["my_job-2.pcap.zst", "my_job-2.run", "my_job.pcap.zst", "my_job.run"], left(folder)


def disk_full():
    """On a file system of 1 MB."""
    folder = top / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], stderr=subprocess.DEVNULL).returncode != 0:
        print("not tested without root: a full disk")
        return
    try:
        server = Server(folder)
        status, document = server.ask("/api/upload?name=x.pcap", "POST", b"x" * 3_000_000)
        assert status == 507 and "No space left" in document["error"] and "make room" in document["error"], (status, document)
        assert left(folder) == [], left(folder)
        server.end()
    finally:
        subprocess.run(["umount", folder], check=True)


def run_seen_live(server, folder):
    """A run's samples come while it goes on."""
    experiment = top / "e.toml"
    experiment.write_text('name = "slow"\n[network]\nhosts = 3\nrate = "20Mbit"\n[[job]]\nparameters = "400KB"\n'
                          'compute = "none"\nsteps = 12\nwarmup = 1\n')
    # Without root it runs on loopback, where nothing is slow: then compute takes time.
    words = ["--no-check"] if os.geteuid() == 0 else ["--on", "loopback", "--set", 'job.compute="profile"', "--set", 'job.compute_time="300ms"']
    run = subprocess.Popen([PROGRAM, "run", experiment, "-o", folder / "live.run", "-q", "--keep-going", *words], cwd=top, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           env=dict(os.environ, TRAINWIRE_STATE=str(top / "state")))
    wait("the run's folder", lambda: (folder / "live.run/live.jsonl").exists() or run.poll() is not None)
    position, samples, header, running, states = 0, [], None, False, set()
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        status, part = server.ask(f"/api/live?id=live.run&from={position}")
        assert status == 200 and part["next"] >= position and part["skipped"] == 0, part
        header = part["header"] or header
        samples += part["samples"]
        running = running or part["running"]
        position = part["next"]
        states |= {entry["state"] for entry in server.ask("/api/runs")[1]["runs"] if entry["id"] == "live.run"}
        if part["ended"]:
            break
        time.sleep(0.2)
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    assert header["name"] == "slow" and header["hosts"] == ["host0", "host1", "host2"], header
    assert running and "running" in states, states
    times = [sample["time_ns"] for sample in samples]
    assert len(times) >= 2 and times == sorted(set(times)), times
    assert server.ask(f"/api/live?id=live.run&from={position}")[1]["ended"] is True
    entry = {run["id"]: run for run in server.ask("/api/runs")[1]["runs"]}["live.run"]
    assert entry["state"] == "complete" and entry["steps"] == 12 and entry["jobs"][0]["strategy"], entry
    assert server.ask("/api/live?id=live.run")[1]["running"] is False


def growing_file(server, folder):
    """A file that grows by halves of lines, with hostile ones between."""
    write_run(folder / "grows.run", complete=False)
    header = {"schema": 1, "name": "grows", "started_ns": 1, "hosts": ["a", "b"], "capacity_bps": None, "jobs": []}
    lines = [json.dumps(header)] + [json.dumps({"time_ns": i, "steps": [i], "sent_bps": [1.0, 2.0], "pairs": [[0, 1, i]]}) for i in range(1, 21)]
    lines[5:5] = ["[" * 100_000, '{"time_ns": "x"}', ""]
    text = "\n".join(lines) + "\n"
    seen, position, skipped = [], 0, 0
    with open(folder / "grows.run/live.jsonl", "w") as file:
        for i in range(0, len(text), 997):
            file.write(text[i:i + 997])
            file.flush()
            part = server.ask(f"/api/live?id=grows.run&from={position}")[1]
            assert part["running"] and not part["ended"], part
            seen += [sample["time_ns"] for sample in part["samples"]]
            position, skipped = part["next"], skipped + part["skipped"]
    assert seen == list(range(1, 21)) and skipped == 3 and position == len(text), (seen, skipped)


def listening(server):
    """Local addresses of the sockets that listen on the port: /proc/net/tcp has them in hexadecimal."""
    found = []
    for table in ["/proc/net/tcp", "/proc/net/tcp6"]:
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            if int(port, 16) == server.port and line.split()[3] == "0A":
                found.append(address)
    return found


def states(server):
    return {task["state"] for task in server.ask("/api/tasks")[1]["tasks"]}


def endings(folder):
    """However it ends, in the middle of everything: exit code 0, no process and no file left."""
    large = (SOURCE / "tests/captures/ddp4_large.pcap.zst").read_bytes()
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        server = Server(folder)
        idle, half = server.connect(), server.connect()
        half.sendall(upload_head(server, "half.pcap", "Content-Length: 100000") + b"x" * 500)
        tasks = [server.ask("/api/upload?name=large.pcap.zst", "POST", large)[0] for _ in range(3)]
        assert tasks == [202] * 3, tasks
        # In the middle of an analysis, unless this machine is through with all of them already.
        wait("an analysis", lambda: "running" in states(server) or not {"waiting", "running"} & states(server))
        children = pathlib.Path(f"/proc/{server.process.pid}/task")
        pids = [pid for thread in children.iterdir() for pid in (thread / "children").read_text().split()]
        assert server.end(number) < 3
        for pid in pids:
            assert not pathlib.Path(f"/proc/{pid}").exists(), pid
        done = [name for name in left(folder) if name.endswith(".run")]
        assert left(folder) == sorted(done + [name.replace(".run", ".pcap.zst") for name in done]), left(folder)
        for name in left(folder):
            shutil.rmtree(folder / name) if name.endswith(".run") else (folder / name).unlink()
        idle.close(), half.close()
    # A server that is killed leaves a hidden file, which the next one removes.
    server = Server(folder)
    half = server.connect()
    half.sendall(upload_head(server, "half.pcap", "Content-Length: 100000") + b"x" * 500)
    wait("an upload has begun", lambda: left(folder))
    server.process.kill()
    server.process.communicate()
    assert len(left(folder)) == 1
    server = Server(folder)
    assert left(folder) == []
    server.end()


def many_runs():
    """2,000 runs: the second list is fast."""
    folder = top / "many"
    summary = {"jobs": [{"name": "job0", "step": {"mean_s": 0.1, "times_s": [0.1] * 500}}]}
    for i in range(2000):
        write_run(folder / f"{i}.run", complete=True, summary=summary)
    server = Server(folder)
    times = []
    for _ in range(2):
        began = time.monotonic()
        assert len(server.ask("/api/runs")[1]["runs"]) == 2000
        times.append(time.monotonic() - began)
    print(f"2,000 runs: {times[0]:.2f} s at first, {times[1]:.2f} s then")
    assert times[1] < 1, times
    # Many at once.
    results = []
    threads = [threading.Thread(target=lambda: results.append(server.status("/api/tasks"))) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [200] * 64, results
    server.end()


try:
    runs = top / "runs"
    server = Server(runs, "--upload-limit", "1MB")
    assert listening(server) == ["0100007F"], listening(server)
    refused = subprocess.run([PROGRAM, "serve", str(runs), "--port", str(server.port)], capture_output=True, text=True, timeout=20)
    assert refused.returncode == 3 and len(refused.stderr.splitlines()) == 1 and "--port" in refused.stderr, refused
    strangers(server)
    page(server)
    silent(server)
    besieged(server)
    ids(server, runs)
    uploads_refused(server, runs)
    uploads_analysed(server, runs)
    growing_file(server, runs)
    run_seen_live(server, runs)
    server.end()
    disk_full()
    analyses_limited()
    endings(top / "ends")
    many_runs()
    print("serve: all as it should be")
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
    shutil.rmtree(top, ignore_errors=True)
