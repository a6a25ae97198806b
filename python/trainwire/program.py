# SPDX-License-Identifier: Apache-2.0
"""The program: where it is, how it is called, what its failures become."""
import json
import os
import pathlib
import shutil
import subprocess
import sys


class TrainwireError(Exception):
    """The program's own sentence, and how it exited: 1 an expectation failed, 2 usage or experiment, 3 environment or
    input, 4 the run failed (a check did, too), 70 an internal error, 130 interrupted.

    `result` is what there is all the same (a Run whose check failed, a document with an expectation that does not
    hold), or None.
    """

    def __init__(self, message, code, command=(), result=None):
        super().__init__(message)
        self.code = code
        self.command = list(command)
        self.result = result


def find_program():
    """$TRAINWIRE, or the one in PATH, or the build of the source tree that this package lies in."""
    given = os.environ.get("TRAINWIRE")
    if given:
        return given
    found = shutil.which("trainwire")
    if found:
        return found
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "trainwire"
    if built.is_file():
        return str(built)
    raise TrainwireError("there is no program trainwire: install it, put it into PATH, or name it in TRAINWIRE", 3)


def sentence(stderr, code):
    """What the program said, without its name."""
    lines = [line for line in stderr.strip().splitlines() if line]
    if not lines:
        return f"trainwire ended with exit code {code} and said nothing"
    text = "\n".join(lines[-20:])
    return text[len("trainwire: "):] if text.startswith("trainwire: ") else text


def _finished(words, text, verbose):
    if not verbose:
        return subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              encoding="utf-8", errors="replace", check=False)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", errors="replace") as process:
        # Read beside the output, so that neither pipe fills while the other is waited for.
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            out = pool.submit(process.stdout.read)
            said = pool.submit(_echoed, process.stderr)
            process.stdin.write(text or "")
            process.stdin.close()
            return subprocess.CompletedProcess(words, process.wait(), out.result(), said.result())


def _echoed(stream):
    lines = []
    for line in stream:
        sys.stderr.write(line)
        lines.append(line)
    return "".join(lines)


def call(*words, text=None, verbose=False, accepted=(0,)):
    """Runs the program with these words and returns (what it printed, exit code). `text` is its standard input. With
    `verbose` what it says meanwhile appears on sys.stderr. Raises TrainwireError for exit codes that are not accepted."""
    words = [find_program(), *map(str, words)]
    try:
        done = _finished(words, text if text is not None else "", verbose)
    except OSError as error:
        raise TrainwireError(f"starting {words[0]}: {error.strerror}", 3, words) from error
    if done.returncode not in accepted:
        raise TrainwireError(sentence(done.stderr, done.returncode), done.returncode, words, document_in(done.stdout))
    return done.stdout, done.returncode


def document_in(text):
    """The JSON document that was printed, or None."""
    try:
        return json.loads(text) if text.strip() else None
    except ValueError:
        return None


def document(*words, text=None, verbose=False):
    """The JSON document of a command that takes --json."""
    out, _ = call(*words, "--json", text=text, verbose=verbose)
    return json.loads(out)
