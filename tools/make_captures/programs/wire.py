# SPDX-License-Identifier: Apache-2.0
"""Blocking TCP between ranks for the programs written on plain sockets."""

import socket
import struct
import time


def listen(address, port):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, port))
    server.listen(64)
    return server


def connect(address, port, source):
    """Connects, waiting up to 20 s for the other side to listen."""
    for _ in range(200):
        try:
            connection = socket.create_connection((address, port), 20, (source, 0))
            connection.settimeout(50)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise TimeoutError(f"nobody listens at {address}:{port}")


def accept(server):
    connection, _ = server.accept()
    connection.settimeout(50)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive_into(connection, view):
    """Fills the view. Throws ConnectionError if the peer ends before."""
    done = 0
    while done < len(view):
        count = connection.recv_into(view[done:])
        if count == 0:
            raise ConnectionError("the peer closed")
        done += count


def send_number(connection, number):
    connection.sendall(struct.pack("!Q", number))


def receive_number(connection):
    """The next number, or None if the peer closed."""
    data = bytearray(8)
    try:
        receive_into(connection, memoryview(data))
    except ConnectionError:
        return None
    return struct.unpack("!Q", data)[0]
