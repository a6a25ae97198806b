// SPDX-License-Identifier: Apache-2.0
// A connection that came through the gate (gate.h), as the HTTP library reads and writes it. For
// server.cc alone, which has the library's definitions.

#pragma once

#include "trainwire/serve/gate.h"

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace tw::serve {

class ArrivalStream : public httplib::Stream {
 public:
  /// `patience`: for each read and each write. REQUIRES: arrival outlives it.
  ArrivalStream(const Arrival& arrival, std::chrono::milliseconds patience)
      : arrival_(arrival), patience_(patience) {}

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* into, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return arrival_.socket.get(); }

 private:
  bool is_ready(short events) const;

  const Arrival& arrival_;
  std::chrono::milliseconds patience_;
  std::size_t given_ = 0;  ///< of what had come already
};

}  // namespace tw::serve
