#!/usr/bin/env python3
"""Text on a terminal and elsewhere: tests/terminal.py TRAINWIRE. A pseudo-terminal of 70 columns stands for the terminal."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

TRAINWIRE = str(pathlib.Path(sys.argv[1]).resolve())
CAPTURE = str(pathlib.Path(__file__).resolve().parent / "captures" / "ddp4_shaped_200m.pcap.zst")
COLUMNS = 70
SMALL = '[network]\nhosts = 2\n[[job]]\nparameters = "1MB"\ncompute = "none"\nsteps = 3\n'


def on_terminal(words, folder, **environment):
    """What the program wrote to a terminal, and its exit code."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    process = subprocess.Popen([TRAINWIRE, *words], stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL,
                               cwd=folder, env={**kept, "TERM": "xterm", **environment})
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # how Linux tells of the end
            break
        if not part:
            break
        text += part
    os.close(leader)
    return text.decode().replace("\r\n", "\n"), process.wait()


def in_pipe(words, folder):
    return subprocess.run([TRAINWIRE, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                          cwd=folder).stdout


def test_text_is_as_wide_as_the_terminal(folder):
    words = ["analyze", CAPTURE, "--no-folder"]
    shown, _ = on_terminal(words, folder)
    whole = in_pipe(words, folder)
    assert "…" not in whole and "\x1b" not in whole
    findings = shown.split("\nfindings\n")[1]
    assert all(len(line) <= COLUMNS for line in findings.splitlines()), findings
    assert any(len(line) > COLUMNS for line in whole.split("\nfindings\n")[1].splitlines()), "a pipe gets whole lines"
    assert findings.split() == whole.split("\nfindings\n")[1].split(), "nothing is lost"


def test_help_is_too(folder):
    shown, _ = on_terminal(["new", "--help"], folder)
    assert all(len(line) <= COLUMNS for line in shown.split("Options:")[1].split("Examples:")[0].splitlines()), shown


def test_data_are_left_alone(folder):
    for words in (["man"], ["new"], ["explain", "rate", "--json"]):
        assert on_terminal(words, folder)[0] == in_pipe(words, folder), words


def test_marks_have_colours_unless_asked_not_to(folder):
    (pathlib.Path(folder) / "small.toml").write_text(SMALL)
    words = ["run", "small.toml", "--on", "loopback", "--no-page", "--force", "-o", "x.run"]
    shown, code = on_terminal(words, folder)
    assert code == 0 and "  \x1b[32mok\x1b[0m    schedule" in shown, shown
    assert "\x1b" not in on_terminal(words, folder, NO_COLOR="1")[0]
    assert "\x1b" not in on_terminal(words, folder, TERM="dumb")[0]
    assert "\x1b" not in in_pipe(words, folder)


def test_next_steps_have_one_word(folder):
    for words in (["analyze", CAPTURE, "--no-folder"], ["models"], ["explain", "rate"], ["info", CAPTURE]):
        last = in_pipe(words, folder).strip().splitlines()[-1]
        assert re.match(r"next: \S", last), (words, last)


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    print(f"terminal: {len(tests)} tests")


main()
