"""Rank 1 sends to rank 0 as fast as TCP lets it, for SECONDS, which are the argument; rank 0 prints the rate in Mbit/s."""
import os
import socket
import sys
import time

SECONDS = float(sys.argv[1])
WARM_UP = 1.0

if os.environ["RANK"] == "0":
    server = socket.create_server(("", 5001))
    connection = server.accept()[0]
    start = time.monotonic()
    received, counted_from = 0, None
    while True:
        piece = connection.recv(1 << 18)
        now = time.monotonic()
        if not piece or now > start + WARM_UP + SECONDS:
            break
        if now > start + WARM_UP:
            counted_from = counted_from or now
            received += len(piece)
    elapsed = SECONDS if counted_from is None else max(now - (start + WARM_UP), 1e-9)
    print(f"{received * 8 / elapsed / 1e6:.1f}")
else:
    while True:
        try:
            connection = socket.create_connection((os.environ["MASTER_ADDR"], 5001))
            break
        except OSError:
            time.sleep(0.05)
    try:
        stop = time.monotonic() + WARM_UP + SECONDS + 1
        while time.monotonic() < stop:
            connection.send(bytes(1 << 18))
    except OSError:
        pass
    os._exit(0)
