// SPDX-License-Identifier: Apache-2.0
// What one traffic process has to do, complete: it reads no experiment and asks nobody.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/load/kinds.h"
#include "trainwire/load/load_file.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/transport/tcp/hello.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tw::traffic {

using load::kind_named;
using load::name_of;

/// Take what comes: TCP, and UDP on the same port.
struct SinkTask {
  std::string address;
  transport::tcp::Token token = {};
  std::uint16_t port = 0;  ///< the kernel's choice when 0
  int threads = 0;         ///< by the number of processors when 0
  /// Who has not shown the token by then is dismissed.
  Duration stranger_patience = std::chrono::seconds(10);
};

struct SourceTask {
  std::string address;  ///< to connect from
  transport::tcp::Token token = {};
  spec::TrafficKind kind = spec::TrafficKind::WebSearch;
  BitRate rate = {};                       ///< of payload; 0, for long only: as fast as it goes
  int flows = 1;                           ///< long: parallel connections
  std::string distribution = "websearch";  ///< a name, a path, or the table's text
  double size_scale = 1;                   ///< multiplies the distribution's sizes
  Duration burst_width = std::chrono::milliseconds(1);
  double burst_height = 3;
  Duration period = std::chrono::milliseconds(10);
  bool reuse = true;  ///< of connections; otherwise one for each flow
  std::uint64_t seed = 1;
  std::string stream = "traffic";         ///< names the random stream
  Duration start = {};                    ///< after the start that is told
  std::optional<Duration> duration = {};  ///< until told to stop when absent
  std::vector<load::Flow> list = {};      ///< kind file: the flows, or
  std::string load_file = {};  ///< kind file: where they stand; for lists too long for a message
  std::optional<std::string> only_to = {};  ///< kind file: flows to this destination alone
  std::string congestion_control = {};      ///< the route's when empty
  int mtu = 1500;                           ///< constant: what a datagram must fit in
  int threads = 0;                          ///< by the number of processors when 0
  std::string log = {};                     ///< file for a line for each flow; none when empty
};

nlohmann::json to_json(const SinkTask& task);
nlohmann::json to_json(const SourceTask& task);
/// By its "role". Throws DataError when it is none.
std::variant<SinkTask, SourceTask> task_from(const nlohmann::json& document);

}  // namespace tw::traffic
