// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/quality.h"

#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tw::diagnose {
namespace {

using packet::Verdict;

constexpr std::size_t kFewSteps = 10;
constexpr std::int64_t kCoarseClockNs = 1'000'000;

void doubt(Quality& quality, Level level, std::string reason) {
  quality.level = std::max(quality.level, level);
  quality.reasons.push_back(std::move(reason));
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void judge_files(Quality& quality, const gather::Captured& traffic) {
  for (const gather::FileSummary& file : traffic.files) {
    if (file.dropped.value_or(0) > 0) {
      const double share = percent(*file.dropped, file.packets + *file.dropped);
      doubt(quality, share > 1 ? Level::Poor : Level::Fair,
            fmt::format("{}: the kernel dropped {} packets ({:.2f} %) while capturing", file.path,
                        *file.dropped, share));
    }
    if (file.damage) {
      doubt(quality, Level::Fair,
            fmt::format("{}: damaged at byte {}: {}", file.path, file.damage->offset,
                        file.damage->text));
    }
    if (!file.clock_known) {
      doubt(quality, Level::Fair,
            fmt::format("{}: its clock's offset from the first file's is unknown", file.path));
    } else if (file.clock_uncertainty_ns > kCoarseClockNs) {
      doubt(quality, Level::Fair,
            fmt::format("{}: its clock is known to {:.1f} ms only", file.path,
                        static_cast<double>(file.clock_uncertainty_ns) * 1e-6));
    }
  }
}

/// Data without any acknowledgement: the capture saw one direction.
bool is_one_sided(const gather::Captured& traffic) {
  std::uint64_t data_flows = 0;
  std::uint64_t alone = 0;
  std::map<flow::FlowKey, bool> present;
  for (const flow::Flow& flow : traffic.flows) present[flow.key] = true;
  for (const flow::Flow& flow : traffic.flows) {
    if (!flow.stream.started() || flow.stream_bytes() < 100'000) continue;
    ++data_flows;
    const flow::FlowKey& key = flow.key;
    alone += present.contains(
                 {key.destination, key.source, key.destination_port, key.source_port, key.protocol})
                 ? 0
                 : 1;
  }
  return data_flows > 0 && 2 * alone > data_flows;
}

void judge_packets(Quality& quality, const gather::Captured& traffic) {
  const flow::Totals& totals = traffic.totals;
  const auto of = [&](Verdict verdict) {
    return totals.by_verdict[static_cast<std::size_t>(verdict)];
  };
  const std::uint64_t unread =
      of(Verdict::TooShort) + of(Verdict::Malformed) + of(Verdict::UnknownLink);
  if (100 * unread > totals.packets) {
    doubt(quality, 5 * unread > totals.packets ? Level::Poor : Level::Fair,
          fmt::format("{:.1f} % of the packets could not be decoded",
                      percent(unread, totals.packets)));
  }
  if (1000 * totals.backward_times > totals.packets) {
    doubt(quality, Level::Fair,
          fmt::format("{:.1f} % of the packets are stamped earlier than the one before",
                      percent(totals.backward_times, totals.packets)));
  }
  std::uint64_t missing = 0;
  std::uint64_t stream = 0;
  for (const flow::Flow& flow : traffic.flows) {
    if (!flow.stream.started()) continue;
    missing += flow.stream.missing_bytes();
    stream += flow.stream_bytes();
  }
  if (10'000 * missing > stream) {
    const double share = percent(missing, missing + stream);
    doubt(quality, share > 2 ? Level::Poor : Level::Fair,
          fmt::format("{:.2f} % of the stream bytes are missing: the capture lost packets", share));
  }
  if (is_one_sided(traffic)) {
    doubt(quality, Level::Fair,
          "most data flows have no way back in the capture: no round trips, no loss recovery");
  }
  std::uint64_t large = 0;
  for (const flow::Flow& flow : traffic.flows) large += flow.large_packets;
  if (large > 0 || totals.super_frames > 0) {
    quality.reasons.push_back(
        "frames larger than the network's (segmentation offload): wire packets are estimated");
  }
}

}  // namespace

Quality quality_of(const gather::Captured& traffic, const Iterations& iterations) {
  Quality quality{.level = Level::Good, .reasons = {}};
  judge_files(quality, traffic);
  judge_packets(quality, traffic);
  if (!iterations.steps.empty() && iterations.steps.size() < kFewSteps) {
    doubt(quality, Level::Fair,
          fmt::format("only {} iterations: medians are uncertain", iterations.steps.size()));
  }
  return quality;
}

}  // namespace tw::diagnose
