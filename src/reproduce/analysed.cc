// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/analysed.h"

#include "trainwire/account/packets.h"
#include "trainwire/base/error.h"
#include "trainwire/gather/captured.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/record/json.h"
#include "trainwire/sim/captures.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/summarise/describe.h"
#include "trainwire/summarise/jobs.h"
#include "trainwire/summarise/small_flows.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

namespace tw::reproduce {
namespace {

nlohmann::ordered_json found_in(const std::vector<std::string>& captures) {
  summarise::CaptureResult result;
  summarise::SmallFlows small;
  gather::ReadOptions how;
  how.retired = [&](const auto& flow, const auto& addresses) { small.add(flow, addresses); };
  result.traffic = gather::read_traffic(captures, how);
  result.small_flows = std::move(small).earliest();
  if (result.traffic.totals.packets == 0) {
    throw DataError(
        fmt::format("reading {}: the capture holds no packets; give another", captures.front()));
  }
  summarise::analyse_found_jobs(result, {});
  summarise::add_figures(result);
  record::Run run = summarise::described(result, "analyze");
  account::add_of_packets(run);
  return record::to_json(run);
}

}  // namespace

nlohmann::ordered_json analysed(const std::string& capture) { return found_in({capture}); }

nlohmann::ordered_json analysed(const spec::Experiment& experiment,
                                const std::function<bool()>& goes_on) {
  ledger::Ledger ledger(ledger::state_folder(), "reproduce");
  const ledger::Scratch scratch("reproduce", ledger,
                                std::filesystem::temp_directory_path().string());
  sim::Captures captures(experiment, scratch.path());
  sim::simulate(experiment, sim::Level::Packet,
                {.goes_on = [&](Duration) { return !goes_on || goes_on(); },
                 .seen = [&](const auto& sight) { captures.take(sight); }});
  captures.finish();
  std::vector<std::string> files;
  for (int host = 0; host < *experiment.network.hosts; ++host) {
    files.push_back(scratch.file(spec::host_name(host) + ".pcap"));
  }
  return found_in(files);
}

}  // namespace tw::reproduce
