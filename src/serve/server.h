// SPDX-License-Identifier: Apache-2.0
// The local page of runs: HTTP on 127.0.0.1, for people and pages that have the token (guard.h).
// docs/serve.md lists what can be asked.
//
// Requests are answered by a few threads, one request a connection, so that what was left of a
// refused request is not taken for the next. Who has not said what he wants holds none of them: the
// gate (gate.h) hands on whole heads only.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/report/report.h"
#include "trainwire/serve/analyses.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tw::serve {

struct Options {
  std::string folder;
  int port = 0;  ///< 0: the kernel chooses
  std::string token;
  Bytes upload_limit = Bytes(2'000'000'000);
  AnalysisLimits analysis_limits = {};
  report::Maker maker;
  /// What `compare` finds of the runs of a page, the first being the baseline; called by several
  /// threads. The page goes without when there is none.
  std::function<nlohmann::ordered_json(std::span<const std::string> folders)> comparisons = {};
  std::string program = "/proc/self/exe";  ///< whose `analyze` reads captures
};

class Server {
 public:
  /// Listens and answers from now on. Throws SystemError when the folder is none or the port is
  /// taken.
  explicit Server(const Options& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Cuts off what goes on and leaves nothing behind: no process, no capture without its run.
  ~Server();

  int port() const;
  /// What to open in a browser.
  std::string address() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tw::serve
