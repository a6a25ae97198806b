// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/guide/commands.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::guide {
namespace {

void print_text(std::ostream& out) {
  for (const collective::Strategy& strategy : collective::catalogue()) {
    fmt::print(out, "{:<23} {}\n{:<23} rounds: {}\n{:<23} bytes:  {}\n", strategy.name,
               strategy.summary, "", strategy.rounds, "", strategy.bytes);
  }
  fmt::print(out,
             "\nM: bytes of gradients. P: ranks. H: hosts. w, n: workers and servers of a "
             "parameter server. p: the\n"
             "largest power of two up to P. D: the height of a tree.\n"
             "next: trainwire plan FILE --set job.strategy=NAME\n");
}

nlohmann::ordered_json document() {
  nlohmann::ordered_json result{
      {"schema", 1}, {"command", "strategies"}, {"strategies", nlohmann::ordered_json::array()}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    result["strategies"].push_back({{"name", strategy.name},
                                    {"operation", collective::name_of(strategy.operation)},
                                    {"summary", strategy.summary},
                                    {"rounds", strategy.rounds},
                                    {"bytes", strategy.bytes}});
  }
  return result;
}

}  // namespace

command::Body declare_strategies(command::CommandLine& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document");
  return [json](command::Streams streams) {
    if (*json) {
      fmt::print(streams.out, "{}\n", document().dump(2));
    } else {
      print_text(streams.out);
    }
    return 0;
  };
}

}  // namespace tw::guide
