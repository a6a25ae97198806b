# SPDX-License-Identifier: Apache-2.0
"""No training: rank 0 and 1 serve pages, the others browse: pages of very different sizes, a few
objects each, think time between, a new connection per object."""

import http.server
import random
import threading
import time
import urllib.request

import steps

PORT = 80


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # the name http.server calls
        body = bytes(int(self.path.strip("/")))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def browse(options, servers):
    choice = random.Random(options.rank)
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                server = choice.choice(servers)
                for _ in range(choice.randint(1, 8)):
                    size = int(min(3e6, choice.lognormvariate(9.5, 1.8)))
                    with urllib.request.urlopen(f"http://{server}:{PORT}/{size}", timeout=10) as answer:
                        answer.read()
                time.sleep(choice.expovariate(3.0))


def main():
    parser = steps.parser()
    parser.add_argument("--serve-seconds", type=float, default=12.0)
    options = parser.parse_args()
    if options.rank < 2:
        server = http.server.ThreadingHTTPServer((options.addresses[options.rank], PORT), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        time.sleep(options.serve_seconds)
    else:
        time.sleep(1)
        browse(options, options.addresses[:2])


main()
