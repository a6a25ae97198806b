// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/conduct.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/testbed/port_source.h"
#include "trainwire/testbed/programs.h"
#include "trainwire/watch/live.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace tw::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testbed::Cluster;
using watch::LinkCounters;

constexpr Duration kLongestSilence = seconds(5);

std::vector<watch::WatchedLink> host_links(const Cluster& cluster) {
  std::vector<watch::WatchedLink> links;
  for (int host = 0; host < static_cast<int>(cluster.plan().hosts.size()); ++host) {
    links.push_back({.network = cluster.host(host), .name = testbed::kHostDevice});
  }
  return links;
}

/// Longest way there and back, and what waits on it.
Duration settling_time(const network::NetPlan& plan) {
  Duration longest = {};
  for (const network::Port& port : plan.ports) {
    longest = std::max(longest, port.delay + port.queue / port.rate);
  }
  return 4 * longest + milliseconds(60);
}

/// Counters of all hosts once nothing has moved for the settling time.
class Counts {
 public:
  explicit Counts(const Cluster& cluster)
      : links_(host_links(cluster)), reader_(links_), settling_(settling_time(cluster.plan())) {}

  std::vector<LinkCounters> when_quiet() {
    std::vector<LinkCounters> last(links_.size());
    reader_.read(last);
    auto quiet_since = std::chrono::steady_clock::now();
    const auto limit = quiet_since + kLongestSilence + 2 * settling_;
    while (std::chrono::steady_clock::now() - quiet_since < settling_ &&
           std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(milliseconds(5));
      std::vector<LinkCounters> now(links_.size());
      reader_.read(now);
      if (now != last) quiet_since = std::chrono::steady_clock::now();
      last = std::move(now);
    }
    return last;
  }

 private:
  std::vector<watch::WatchedLink> links_;
  watch::CounterReader reader_;
  Duration settling_;
};

/// What links carry, from their counters, twice a second.
class RateMeter {
 public:
  explicit RateMeter(const Cluster& cluster)
      : source_(testbed::port_source(cluster, testbed::Depths::Leave)), last_(source_.ports) {}

  void look(const std::function<void(std::span<const double>)>& tell) {
    const std::int64_t now = os::monotonic_ns();
    if (now - last_ns_ < kEvery) return;
    std::vector<watch::PortCounts> counts(source_.ports);
    source_.read(counts);
    std::vector<double> rates;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      rates.push_back(8e9 * static_cast<double>(counts[i].bytes - last_[i].bytes) /
                      static_cast<double>(now - last_ns_));
    }
    if (last_ns_ != 0) tell(rates);
    last_ = std::move(counts);
    last_ns_ = now;
  }

 private:
  static constexpr std::int64_t kEvery = 500'000'000;
  watch::PortSource source_;
  std::vector<watch::PortCounts> last_;
  std::int64_t last_ns_ = 0;
};

class Conductor {
 public:
  explicit Conductor(const ConductRequest& request)
      : request_(request),
        ledger_(ledger::state_folder(),
                request.launches.empty()
                    ? request.commands.front().words.front()
                    : fmt::format("{}", fmt::join(request.launches.front().words, " "))),
        cluster_(request.plan, request.engine),
        programs_(cluster_) {
    record();
  }

  ConductOutcome run() && {
    check_network();
    if (is_stopped()) return std::move(outcome_);
    tell("starting");
    if (request_.companion.begin) request_.companion.begin(programs_, ledger_);
    Counts counts(cluster_);
    const std::vector<LinkCounters> before = counts.when_quiet();
    std::optional<capture::LiveCapture> capture = start_capture();
    watch::Watch watch(testbed::port_source(cluster_, testbed::Depths::Take));
    outcome_.started = os::moment();
    start_ranks(watch);
    wait_for_ranks();
    if (request_.companion.end) request_.companion.end(programs_);
    outcome_.ended = os::moment();
    const std::vector<LinkCounters> after = counts.when_quiet();
    outcome_.watch = watch.stop();
    if (capture) outcome_.captures = capture->stop();
    for (const capture::LiveResult& result : outcome_.captures) {
      if (result.failure && !outcome_.failure) outcome_.failure = result.failure;
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
      outcome_.counters.push_back(difference(after[i], before[i]));
    }
    judge();
    return std::move(outcome_);
  }

 private:
  void tell(const std::string& what) const {
    if (request_.tell) request_.tell(what);
  }

  bool is_stopped() {
    if (!outcome_.interrupted && request_.stop && request_.stop()) outcome_.interrupted = true;
    return outcome_.interrupted;
  }

  void record() {
    for (const os::ProcessIdentity& process : cluster_.processes()) ledger_.add(process, "engine");
    ledger_.add(programs_.first_process(), "programs");
    ledger_.add_namespace(cluster_.switches(), "switches");
    for (int host = 0; host < static_cast<int>(request_.plan.hosts.size()); ++host) {
      ledger_.add_namespace(cluster_.host(host),
                            request_.plan.hosts[static_cast<std::size_t>(host)].name);
    }
  }

  void check_network() {
    if (!request_.checks_network) return;
    testbed::CheckOptions options;
    options.coverage = request_.plan.hosts.size() <= 8 ? testbed::Coverage::EveryPort
                                                       : testbed::Coverage::EveryKind;
    options.progress = [this](std::size_t done, std::size_t all) {
      tell(fmt::format("measuring the network, path {} of {}", done + 1, all));
    };
    options.stop = [this] { return is_stopped(); };
    outcome_.network = testbed::check_network(cluster_, options);
    if (testbed::worst(outcome_.network) != testbed::Fitness::Refused || request_.accepts_network) {
      return;
    }
    throw Error(refusal());
  }

  std::string refusal() const {
    for (const testbed::PathCheck& check : outcome_.network) {
      if (check.fitness != testbed::Fitness::Refused) continue;
      const auto name = [&](int host) {
        return request_.plan.hosts[static_cast<std::size_t>(host)].name;
      };
      return fmt::format(
          "the emulated network is not what was asked for: from {} to {} {}; ask for less, try "
          "again on a quiet machine, or go on with --accept-network",
          name(check.path.from), name(check.path.to), check.problems.front());
    }
    return {};
  }

  std::optional<capture::LiveCapture> start_capture() const {
    if (!request_.captures) return {};
    std::vector<capture::LiveInterface> interfaces;
    for (std::size_t i = 0; i < request_.plan.hosts.size(); ++i) {
      interfaces.push_back(
          {.network = cluster_.host(static_cast<int>(i)),
           .name = testbed::kHostDevice,
           .file = fmt::format("{}/{}.pcap", request_.folder, request_.plan.hosts[i].name)});
    }
    return capture::LiveCapture(interfaces,
                                {.snap_length = static_cast<std::uint32_t>(request_.snap_length)});
  }

  std::vector<RankCommand> commands() const {
    std::vector<RankCommand> all;
    for (LaunchRequest launch : request_.launches) {
      launch.marks_folder = request_.folder;
      for (std::size_t i = 0; i < request_.plan.hosts.size(); ++i) {
        launch.namespace_numbers.push_back(cluster_.host(static_cast<int>(i)).get());
      }
      for (RankCommand& command : make_commands(request_.plan, launch)) {
        all.push_back(std::move(command));
      }
    }
    all.insert(all.end(), request_.commands.begin(), request_.commands.end());
    return all;
  }

  void start_ranks(watch::Watch& watch) {
    ranks_.start(commands(), request_.folder,
                 [this, &watch](const RankCommand& command, int input, int output) {
                   os::Child child = programs_.start({.host = command.host,
                                                      .words = command.words,
                                                      .environment = command.environment,
                                                      .input = input,
                                                      .output = output,
                                                      .errors = output});
                   watch.follow(child.identity().pid);
                   ledger_.add(child.identity(), command.label);
                   if (request_.started) request_.started(command, child.identity());
                   return fleet::local_process(std::move(child));
                 });
  }

  /// Sources and sinks of cross traffic are no ranks.
  std::string running_text() const {
    std::size_t ranks = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      ranks += ranks_.label(i).find("rank ") != std::string::npos;
    }
    if (ranks_.size() == 1 || ranks == 0) return ranks_.label(0);
    return fmt::format("{} ranks", ranks);
  }

  void wait_for_ranks() {
    tell(fmt::format("running {}", running_text()));
    RankCare care = request_.care;
    care.timeout = request_.timeout;
    care.stop = [this] { return is_stopped(); };
    RateMeter meter(cluster_);
    care.attend = [&] {
      if (request_.care.attend) request_.care.attend();
      if (request_.rates) meter.look(request_.rates);
    };
    if (request_.steer) {
      care.steer = [this](RankGroup& ranks) { request_.steer(ranks, &cluster_); };
    }
    care.broken = [this]() -> std::optional<std::string> {
      if (auto why = cluster_.engine_failure()) return why;
      return request_.care.broken ? request_.care.broken() : std::nullopt;
    };
    outcome_.failure = ranks_.wait(care);
    outcome_.ranks = ranks_.stop();
  }

  void judge() {
    watch::Circumstances circumstances{.computes = true};
    if (cluster_.counters().lateness().quantile_ns(0.5) > 0) {
      Duration shortest = std::chrono::hours(1);
      for (const network::Port& port : request_.plan.ports)
        shortest = std::min(shortest, port.delay);
      circumstances.lateness = watch::ReleaseLateness{
          .p99 = Duration(cluster_.counters().lateness().quantile_ns(0.99)),
          .delay = shortest,
          .longest = Duration(cluster_.counters().lateness().quantile_ns(1))};
    }
    const auto load =
        watch::load_between(outcome_.watch, outcome_.started.real_ns, outcome_.ended.real_ns);
    outcome_.verdict = watch::verdict(load.value_or(watch::Load{}), circumstances);
  }

  const ConductRequest& request_;
  ledger::Ledger ledger_;
  Cluster cluster_;
  testbed::Programs programs_;
  RankGroup ranks_;
  ConductOutcome outcome_;
};

}  // namespace

ConductOutcome conduct(const ConductRequest& request) {
  if (request.tell) request.tell("building the network");
  // Before anything is built: a misspelt command is told at once.
  for (const LaunchRequest& launch : request.launches) {
    if (launch.launcher == Launcher::Mpi) testbed::find_program("mpirun");
    testbed::find_program(launch.words.front());
  }
  for (const RankCommand& command : request.commands) {
    testbed::find_program(command.words.front());
  }
  return Conductor(request).run();
}

std::vector<std::string> last_lines(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > most) lines.erase(lines.begin());
  }
  return lines;
}

}  // namespace tw::lab
