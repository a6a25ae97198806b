// SPDX-License-Identifier: Apache-2.0
// Figures for monitoring systems, at /metrics: HTTP, one request a connection, through the same gate and guard as the page of
// runs.
//
// On a loopback address whoever is on this machine may ask. On any other address only who has the token may, which a
// monitoring system sends as `Authorization: Bearer TOKEN` (Prometheus: authorization.credentials_file); the connection is
// not encrypted.

#pragma once

#include <functional>
#include <memory>
#include <string>

namespace tw::serve {

/// 127.0.0.0/8 and ::1.
bool is_loopback(const std::string& address);

struct MetricsOptions {
  std::string address;     ///< of this machine
  int port = 0;            ///< 0: the kernel chooses
  std::string token = {};  ///< REQUIRES: not empty unless is_loopback(address)
  std::string content_type;
  std::function<std::string()> text;  ///< asked anew each time; called by several threads
};

class MetricsServer {
 public:
  /// Listens and answers from now on. Throws SystemError when the port is taken, SpecError for what is no address.
  explicit MetricsServer(const MetricsOptions& options);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  /// Cuts off what goes on.
  ~MetricsServer();

  /// "http://127.0.0.1:9464/metrics".
  std::string address() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tw::serve
