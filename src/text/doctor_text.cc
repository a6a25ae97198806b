// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/doctor_text.h"

#include "trainwire/testbed/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace tw::text {
namespace {

using nlohmann::ordered_json;
using spec::Engine;
using testbed::Feature;
using testbed::Features;
using testbed::Privilege;

/// Shorter delays drown in the lateness of timers.
constexpr Duration kLeastDelay = std::chrono::microseconds(200);
/// Above, a run is void.
constexpr double kMostSteal = 0.02;
/// Above, the shape of short delays suffers.
constexpr Duration kLateTimer = std::chrono::milliseconds(1);

struct Row {
  std::string_view name;
  Feature feature;
  std::string good;       ///< what it gives
  std::string_view lack;  ///< what its absence means
  std::string_view remedy;
};

Row root_row(const Features& features) {
  return {.name = "networks as root",
          .feature = features.root_networks,
          .good = "hosts, links and queues can be made",
          .lack = "user namespaces take its place, if allowed",
          .remedy = "run as root"};
}

Row user_row(const Features& features) {
  return {.name = "networks without root",
          .feature = features.user_namespaces,
          .good = "ordinary users can emulate, in a user namespace",
          .lack = "only root can emulate",
          .remedy = "sysctl user.max_user_namespaces=10000"};
}

Row congestion_row(const Features& features) {
  return {.name = "congestion controls",
          .feature = {.works = !features.congestion_controls.empty()},
          .good = fmt::format("{}", fmt::join(features.congestion_controls, ", ")),
          .lack = "TCP cannot be set up",
          .remedy = "modprobe tcp_cubic tcp_bbr"};
}

std::vector<Row> rows_of(const Features& features) {
  return {root_row(features),
          user_row(features),
          {"links and switches", features.links, "virtual links joined by the kernel's bridge",
           "only the tap engine could work", "modprobe veth bridge"},
          {"rates", features.shaping, "links are shaped by a token bucket",
           "networks cannot be built", "modprobe sch_tbf"},
          {"segment sizes", features.segment_limit, "bursts of at most 0.13 ms of the line",
           "networks cannot be built", "use Linux 4.16 or later"},
          {"netem", features.netem, "delay and loss by the kernel itself",
           "not needed: nfqueue does the same", "modprobe sch_netem"},
          {"nfqueue", features.nfqueue, "delay and loss, packets held in the kernel",
           "netem or tap take its place", "modprobe nfnetlink_queue nft_queue br_netfilter"},
          {"tap", features.tap, "loss of single packets at full speed, ECN marks",
           "no ECN, loss costs rate", "modprobe tun; access to /dev/net/tun"},
          {"process namespaces", features.pid_namespaces, "programs end with their run",
           "exec and net shell do not work", "PID_NS in the kernel, permitted"},
          {"capture", features.capture, "packets are recorded in every host",
           "exec has nothing to analyse", "modprobe af_packet"},
          congestion_row(features),
          {"run-queue wait", features.run_queue, "CPU-bound runs are recognised",
           "CPU-bound runs are harder to see", "SCHED_INFO in the kernel"}};
}

std::string row_text(const Row& row) {
  const bool works = row.feature.works;
  return fmt::format("{:<8} {:<22} {}\n", works ? "ok" : "missing", row.name,
                     works ? row.good : fmt::format("{}; get it: {}", row.lack, row.remedy));
}

std::optional<Engine> first_that_works(const Features& features,
                                       std::initializer_list<Engine> engines) {
  for (const Engine engine : engines) {
    if (features.of(engine).works) return engine;
  }
  return {};
}

/// As testbed/choose.h prefers them.
std::optional<Engine> usual_engine(const Features& features) {
  return first_that_works(features, {Engine::Netem, Engine::Nfqueue, Engine::Tap});
}
std::optional<Engine> lossy_engine(const Features& features) {
  return first_that_works(features, {Engine::Tap, Engine::Nfqueue, Engine::Netem});
}

std::string_view why(Engine usual) {
  if (usual == Engine::Netem) return "the kernel's own; nfqueue where links from hosts differ";
  if (usual == Engine::Nfqueue) return "the fastest that works here, since netem does not";
  return "the only one that works here";
}

std::string headline(const Features& features) {
  if (!can_emulate(features)) {
    const Feature& tried =
        features.privilege == Privilege::None ? features.user_namespaces : features.nfqueue;
    return fmt::format("Networks cannot be emulated here: {}\n", tried.reason);
  }
  return fmt::format("Networks can be emulated here, {}.\n",
                     features.privilege == Privilege::Root ? "as root" : "without being root");
}

std::string engine_text(const Features& features) {
  const Engine usual = *usual_engine(features);
  std::string text = fmt::format("engine   {}: {}\n", testbed::name_of(usual), why(usual));
  if (usual != Engine::Tap && features.tap.works) {
    text += "         tap where packets are lost or marked (ECN): each packet by itself\n";
  }
  if (!features.tap.works) {
    text += "         no ECN marks; with loss every packet is of MTU size, which costs CPU\n";
  }
  return text;
}

std::string rate_text(const Features& features) {
  std::string text =
      fmt::format("rates    up to {} over all busy links at once, with {} processor{}",
                  readable(network_bound_rate(features, false)), features.processors,
                  features.processors == 1 ? "" : "s");
  if (lossy_engine(features) != Engine::Tap) {
    text += fmt::format("; {} with loss", readable(network_bound_rate(features, true)));
  }
  return text +
         "\n         above, processors are the limit and results say so; run.scale scales down\n";
}

std::string timer_text(const Features& features) {
  const testbed::TimerQuality& timer = features.timer;
  std::string text = fmt::format(
      "delays   from {} up; timers are {} late (median), {} at p99; steal {:.1f} %\n",
      readable(kLeastDelay), readable(timer.median), readable(timer.p99), 100 * timer.steal);
  if (timer.p99 > kLateTimer) {
    text += "         late timers: delays below 10 ms get a tail; an idle machine has less of it\n";
  }
  if (timer.steal > kMostSteal) {
    text += "         the hypervisor takes processors away: runs are void above 2 % of steal\n";
  }
  return text;
}

ordered_json engine_name(const std::optional<Engine>& engine) {
  return engine ? ordered_json(testbed::name_of(*engine)) : ordered_json(nullptr);
}

std::string_view privilege_name(Privilege privilege) {
  if (privilege == Privilege::Root) return "root";
  return privilege == Privilege::UserNamespace ? "user_namespace" : "none";
}

ordered_json features_document(const Features& features) {
  ordered_json list = ordered_json::array();
  for (const Row& row : rows_of(features)) {
    const bool works = row.feature.works;
    list.push_back({{"name", row.name},
                    {"works", works},
                    {"reason", row.feature.reason},
                    {"meaning", works ? row.good : std::string(row.lack)},
                    {"remedy", works ? ordered_json(nullptr) : ordered_json(row.remedy)}});
  }
  return list;
}

}  // namespace

bool can_emulate(const Features& features) {
  return features.privilege != Privilege::None && usual_engine(features).has_value();
}

BitRate network_bound_rate(const Features& features, bool whole_packets) {
  return (whole_packets ? 1_Gbit : 2_Gbit) * features.processors;
}

std::string doctor_text(const Features& features, const std::string& beside) {
  std::string text = headline(features) + "\n";
  if (features.privilege == Privilege::None) {
    text += row_text(root_row(features)) + row_text(user_row(features));
    return text + "\nnothing else could be tried. plan, show, analyze and info work all the same\n";
  }
  for (const Row& row : rows_of(features)) text += row_text(row);
  if (!can_emulate(features))
    return text + "\nnext: one of the remedies above, then doctor again\n";
  return text + "\n" + engine_text(features) + rate_text(features) + timer_text(features) + beside +
         "\nnext: trainwire net check EXPERIMENT\n";
}

ordered_json doctor_document(const Features& features) {
  return {{"schema", 1},
          {"command", "doctor"},
          {"works", can_emulate(features)},
          {"privilege", privilege_name(features.privilege)},
          {"features", features_document(features)},
          {"engine",
           {{"usual", engine_name(usual_engine(features))},
            {"loss", engine_name(lossy_engine(features))},
            {"ecn", engine_name(first_that_works(features, {Engine::Tap}))}}},
          {"congestion_controls", features.congestion_controls},
          {"processors", features.processors},
          {"network_bound_bps", network_bound_rate(features, false).bits_per_second()},
          {"network_bound_whole_packets_bps", network_bound_rate(features, true).bits_per_second()},
          {"least_delay_s", seconds(kLeastDelay)},
          {"timer",
           {{"late_median_s", seconds(features.timer.median)},
            {"late_p99_s", seconds(features.timer.p99)},
            {"steal", features.timer.steal}}}};
}

}  // namespace tw::text
