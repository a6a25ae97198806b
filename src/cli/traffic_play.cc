// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/traffic_play.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/os/clock.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/progress.h"
#include "trainwire/terminal/status.h"
#include "trainwire/traffic/sink.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <algorithm>

namespace tw::cli {
namespace {

using nlohmann::json;
using traffic::Outcome;

constexpr int kLookEveryMs = 100;
/// Finishing sooner than that is as good as at once.
constexpr double kWorthTellingS = 1e-3;
/// Less than this of what was asked for deserves a word.
constexpr double kShort = 0.95;

std::string time_text(double time_s) { return readable(from_seconds(time_s)); }

std::string class_name(const traffic::CompletionClass& one) {
  return one.to ? "to " + readable(*one.to) : "over " + readable(one.from);
}

std::string load_line(const Outcome& outcome) {
  std::string text = "load: ";
  if (outcome.requested) text += fmt::format("requested {}, ", readable(*outcome.requested));
  text += fmt::format("achieved {}", readable(outcome.achieved));
  if (outcome.requested && outcome.requested->bits_per_second() > 0) {
    text += fmt::format(" ({:.1f} %)", 100 * (outcome.achieved / *outcome.requested));
  }
  text += fmt::format(" of payload over {}", time_text(outcome.elapsed_s));
  if (outcome.drain_s > kWorthTellingS)
    text += fmt::format(", then {} to finish", time_text(outcome.drain_s));
  return text;
}

std::string advice(const Outcome& outcome) {
  if (outcome.requested && outcome.achieved < *outcome.requested * kShort) {
    return "Less arrived than was asked for: the path or one of the machines does not carry more.";
  }
  return "The whole account: --json; a line for each flow: --log flows.csv";
}

traffic::SourceTask source_task(const command::TrafficOptions& options,
                                const load::Demand& demand) {
  const auto token = command::token_option(options);
  if (!token) {
    throw SpecError("the sink's token is missing: set TRAINWIRE_TOKEN as the sink has printed it");
  }
  traffic::SourceTask task{.address = options.bind,
                           .token = *token,
                           .kind = demand.kind,
                           .rate = demand.rate,
                           .flows = demand.flows,
                           .distribution = options.distribution,
                           .burst_width = demand.burst_width,
                           .burst_height = demand.burst_height,
                           .period = demand.period,
                           .reuse = !options.no_reuse,
                           .seed = demand.seed,
                           .duration = demand.duration,
                           .congestion_control = options.congestion_control,
                           .threads = options.threads,
                           .log = options.log};
  return task;
}

traffic::SourceTask task_of(const command::TrafficOptions& options) {
  if (options.load.empty()) return source_task(options, command::demand_option(options, true));
  load::Demand demand;
  demand.kind = spec::TrafficKind::File;
  if (!options.duration.empty())
    demand.duration = command::time_option("--duration", options.duration, {});
  traffic::SourceTask task = source_task(options, demand);
  task.load_file = options.load;
  return task;
}

/// Until the load is over or Ctrl-C.
void watch(traffic::Generator& generator, const terminal::InterruptGuard& guard,
           command::Streams streams) {
  terminal::Status status(streams.err, terminal::shown_on(streams.err, false));
  const std::int64_t begin = os::monotonic_ns();
  pollfd over{.fd = generator.over_descriptor(), .events = POLLIN, .revents = 0};
  while (!generator.is_over()) {
    ::poll(&over, 1, kLookEveryMs);
    if (guard.interrupted()) generator.stop();
    const traffic::Glance glance = generator.glance();
    const double elapsed_s = std::max(1e-9 * static_cast<double>(os::monotonic_ns() - begin), 1e-3);
    status.tell(
        fmt::format("{:.1f} s  {} flows started, {} finished, {} sent", elapsed_s,
                    grouped(glance.started), grouped(glance.finished),
                    readable(BitRate(8 * static_cast<double>(glance.sent.count()) / elapsed_s))));
  }
}

void print_outcome(const command::TrafficOptions& options, const Outcome& outcome, bool whole,
                   command::Streams streams) {
  if (options.json) {
    json document = traffic::to_json(outcome);
    document["schema"] = 1;
    document["command"] = "traffic send";
    document["complete"] = whole;
    fmt::print(streams.out, "{}\n", document.dump(2));
    return;
  }
  for (const std::string& line : outcome_text(outcome)) fmt::print(streams.out, "{}\n", line);
  fmt::print(streams.out, "{}\n", advice(outcome));
}

void print_counts(const command::TrafficOptions& options, const traffic::SinkCounts& counts,
                  command::Streams streams) {
  if (options.json) {
    json document = to_json(counts);
    document["schema"] = 1;
    document["command"] = "traffic sink";
    fmt::print(streams.out, "{}\n", document.dump(2));
    return;
  }
  fmt::print(streams.out,
             "took {} in {} complete flows over {} connections, {} in {} datagrams; refused {}\n",
             readable(counts.received), grouped(counts.flows), grouped(counts.connections),
             readable(counts.datagram_bytes), grouped(counts.datagrams), grouped(counts.refused));
}

/// How a sender names the machine on which the sink listens.
std::string reachable(const std::string& address, int port) {
  if (address == "0.0.0.0" || address == "::") return fmt::format("THIS-MACHINE:{}", port);
  const bool six = address.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(six ? "[{}]:{}" : "{}:{}"), address, port);
}

}  // namespace

std::vector<std::string> outcome_text(const Outcome& outcome) {
  std::vector<std::string> lines{load_line(outcome)};
  if (outcome.datagrams_sent) {
    lines.push_back(
        fmt::format("datagrams: {} sent, {} received, {} lost", grouped(*outcome.datagrams_sent),
                    grouped(outcome.datagrams_received.value_or(0)),
                    grouped(*outcome.datagrams_sent - outcome.datagrams_received.value_or(0))));
  } else {
    lines.push_back(fmt::format(
        "flows: {} started, {} finished, {} unfinished, {} due but not "
        "started; {} connections",
        grouped(outcome.started), grouped(outcome.finished), grouped(outcome.unfinished),
        grouped(outcome.unstarted), grouped(outcome.connections)));
  }
  lines.push_back(fmt::format("started late by: p50 {}, p99 {}", time_text(outcome.lateness_p50_s),
                              time_text(outcome.lateness_p99_s)));
  const bool timed = std::any_of(outcome.completion.begin(), outcome.completion.end(),
                                 [](const auto& c) { return c.n + c.censored > 0; });
  if (!timed) return lines;
  lines.push_back(fmt::format("{:<14} {:>10} {:>12} {:>12} {:>12} {:>10}", "completion", "finished",
                              "p50", "p99", "mean", "unfinished"));
  for (const traffic::CompletionClass& one : outcome.completion) {
    if (one.n + one.censored == 0) continue;
    lines.push_back(fmt::format("{:<14} {:>10} {:>12} {:>12} {:>12} {:>10}", class_name(one),
                                grouped(one.n), one.n > 0 ? time_text(one.p50_s) : "-",
                                one.n > 0 ? time_text(one.p99_s) : "-",
                                one.n > 0 ? time_text(one.mean_s) : "-", grouped(one.censored)));
  }
  return lines;
}

int send_traffic(const command::TrafficOptions& options, command::Streams streams) {
  if (options.to.empty()) throw SpecError("--to is missing; write --to 10.0.0.2:5001");
  std::vector<traffic::Destination> destinations;
  for (const std::string& text : options.to)
    destinations.push_back(command::destination_option(text));
  traffic::Generator generator(task_of(options), destinations);
  generator.connect();
  const terminal::InterruptGuard guard;
  generator.start(true);
  watch(generator, guard, streams);
  try {
    print_outcome(options, generator.finish(), !guard.interrupted(), streams);
  } catch (const Error&) {
    // What was counted until it failed is kept.
    print_outcome(options, generator.outcome(), false, streams);
    throw;
  }
  return guard.interrupted() ? command::kInterrupted : 0;
}

int sink_traffic(const command::TrafficOptions& options, command::Streams streams) {
  if (!options.load.empty())
    throw SpecError("traffic sink takes no file; see `trainwire traffic --help`");
  if (options.port < 0 || options.port > 65535) throw SpecError("--port is 0 to 65535");
  const auto given = command::token_option(options);
  const transport::tcp::Token token = given ? *given : transport::tcp::make_token();
  const Duration time = command::time_option("--for", options.for_time, Duration());
  const std::string address = options.bind.empty() ? "127.0.0.1" : options.bind;
  traffic::Sink sink({.address = address,
                      .token = token,
                      .port = static_cast<std::uint16_t>(options.port),
                      .threads = options.threads});
  fmt::print(streams.err, "listening on {} port {}, TCP and UDP; Ctrl-C ends it\n", address,
             sink.port());
  fmt::print(streams.err,
             "send: {}trainwire traffic send --kind websearch --rate 100Mbit --to {}\n",
             given ? "" : fmt::format("TRAINWIRE_TOKEN={} ", transport::tcp::text_of(token)),
             reachable(address, sink.port()));
  streams.err.flush();
  const terminal::InterruptGuard guard;
  const std::int64_t end = os::monotonic_ns() + time.count();
  terminal::Status status(streams.err, terminal::shown_on(streams.err, false));
  while (!guard.interrupted() && (time == Duration() || os::monotonic_ns() < end)) {
    os::sleep_until(time == Duration() ? os::monotonic_ns() + 100'000'000
                                       : std::min(end, os::monotonic_ns() + 100'000'000));
    const traffic::SinkCounts counts = sink.counts();
    status.tell(fmt::format("{} taken, {} flows", readable(counts.received + counts.datagram_bytes),
                            grouped(counts.flows)));
  }
  status.wipe();
  sink.stop();
  print_counts(options, sink.counts(), streams);
  return 0;
}

}  // namespace tw::cli
