// SPDX-License-Identifier: Apache-2.0
// What `trainwire traffic` takes, as words and as what they mean. Readers throw SpecError that
// names the option and says what to write.

#pragma once

#include "trainwire/load/make.h"
#include "trainwire/traffic/generator.h"
#include "trainwire/transport/tcp/hello.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::command {

struct TrafficOptions {
  std::string action;
  std::string load;  ///< file
  std::string kind = "websearch";
  std::string rate;
  std::string duration;
  std::string distribution = "websearch";
  std::string width = "1ms";
  std::string height = "3";
  std::string period = "10ms";
  int flows = 1;
  std::string seed = "1";
  std::vector<std::string> to;
  std::string out;
  std::string bind;
  int port = 0;
  std::string token;
  std::string for_time;
  bool no_reuse = false;
  int threads = 0;
  std::string congestion_control;
  std::string log;
  bool json = false;
};

/// `otherwise` when the option was not given.
Duration time_option(std::string_view name, const std::string& text, Duration otherwise);
/// The load that --kind and its companions ask for. With `rate_optional` it may be 0.
load::Demand demand_option(const TrafficOptions& options, bool rate_optional);
/// --token, "@FILE", or the environment's TRAINWIRE_TOKEN.
std::optional<transport::tcp::Token> token_option(const TrafficOptions& options);
/// "NAME=HOST:PORT" or "HOST:PORT"; IPv6 addresses stand in brackets. Host names are looked up.
traffic::Destination destination_option(const std::string& text);

}  // namespace tw::command
