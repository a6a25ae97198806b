#!/usr/bin/env python3
"""The prompt of an emulated network, from a pipe; exec without a file: tests/net_cli.py TRAINWIRE."""
import json
import pathlib
import subprocess
import sys
import tempfile

TRAINWIRE = str(pathlib.Path(sys.argv[1]).resolve())
EXPERIMENT = '[network]\nhosts = 3\nrate = "100Mbit"\ndelay = "1ms"\n'


def trainwire(*words, text="", folder="."):
    return subprocess.run([TRAINWIRE, *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, cwd=folder)


def prompt(folder, *lines):
    path = pathlib.Path(folder) / "three.toml"
    path.write_text(EXPERIMENT)
    return trainwire("net", "cli", str(path), text="\n".join(lines) + "\n")


def test_commands_run_on_their_hosts(folder):
    done = prompt(folder, "# a comment", "host1 hostname", "host0 echo host1 'a  b' \"host2\" x-host1 $HOME > no",
                  "host2 sh -c 'read line; echo \"[$line]\"'", "links", "exit", "host0 echo never")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "host1", lines
    words = lines[1].split(" ")
    # Names of hosts become addresses; nothing is left to a shell, and quotes keep words together.
    assert words[0].startswith("10.") and "a  b" in lines[1] and lines[1].endswith("x-host1 $HOME > no"), lines[1]
    assert "host2" not in lines[1]
    assert lines[2] == "[]", "a program does not eat the lines that follow it"
    assert "100 Mbit/s" in done.stdout and "never" not in done.stdout


def test_hosts_reach_one_another(folder):
    done = prompt(folder, "pingall")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 pairs, 0 without an answer" in done.stdout, done.stdout
    # Two links of 1 ms, there and back.
    trip = float(done.stdout.splitlines()[0].split()[3])
    assert 4 <= trip < 20, done.stdout


def test_mistakes_are_told_and_passed_over(folder):
    done = prompt(folder, "hots1 hostname", "host0", "host0 no-such-program", "host0 echo 'x", "host2 hostname")
    assert done.returncode == 0 and done.stdout == "host2\n", done.stdout
    assert 'did you mean "host1"?' in done.stderr and "no such program" in done.stderr, done.stderr
    assert prompt(folder, "host0 false").returncode == 1


def test_a_program_in_the_background_serves_the_next(folder):
    server, client = pathlib.Path(folder) / "server.py", pathlib.Path(folder) / "client.py"
    server.write_text("import socket\nsocket.create_server(('', 9000)).accept()[0].sendall(b'hello')\n")
    client.write_text("import socket, sys, time\nfor _ in range(100):\n  try: s = socket.create_connection((sys.argv[1], 9000)); "
                      "break\n  except OSError: time.sleep(0.05)\nprint(s.recv(9).decode())\n")
    done = prompt(folder, f"host0 python3 {server} &", f"host1 python3 {client} host0")
    assert done.stdout == "hello\n", (done.stdout, done.stderr)


def test_exec_without_a_file(folder):
    done = trainwire("exec", "--hosts", "2", "--rate", "50Mbit", "--link", "host1:to:20Mbit", "--ranks", "4", "--no-check",
                     "--no-page", "--keep-going", "-o", "x.run", "-q", "--", "hostname", folder=folder)
    assert done.returncode == 0, done.stderr
    file = json.loads((pathlib.Path(folder) / "x.run" / "run.json").read_text())
    run = file["summary"]
    assert run["experiment"]["network"]["rate_bps"]["value"] == 50e6, run["experiment"]["network"]
    requested = {(link["name"], link["direction"]): link["requested"]["rate_bps"] for link in run["network"]["links"]}
    assert requested["host1", "to_host"] == 20e6 and requested["host1", "from_host"] == 50e6, requested
    assert len(run["ranks"]) == 4 and file["provenance"]["inputs"] == []
    both = trainwire("exec", "--hosts", "2", "x.toml", "--", "hostname", folder=folder)
    assert both.returncode == 2 and "--set network.hosts" in both.stderr, both.stderr
    assert trainwire("exec", "--", "hostname").returncode == 2


def main():
    with tempfile.TemporaryDirectory() as folder:
        if prompt(folder, "exit").returncode == 3:
            print("skipped: no network namespaces here")
            sys.exit(77)
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    print(f"net cli: {len(tests)} tests")


main()
