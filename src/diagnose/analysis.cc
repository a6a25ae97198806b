// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/analysis.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/diagnose/classify.h"
#include "trainwire/diagnose/confidence.h"
#include "trainwire/diagnose/findings.h"
#include "trainwire/diagnose/iterations.h"
#include "trainwire/diagnose/quality.h"
#include "trainwire/diagnose/trouble.h"
#include "trainwire/gather/hosts.h"
#include "trainwire/recognise/jobs.h"
#include "trainwire/recognise/likelihood.h"
#include "trainwire/recognise/one_side.h"
#include "trainwire/recognise/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <utility>

namespace tw::diagnose {
namespace {

constexpr double kCrossTrafficShare = 0.01;  ///< of the job's bytes
constexpr double kWorthAWord = 0.02;         ///< probability of another reading
constexpr std::size_t kMostNames = 6;

std::vector<std::string> names_of(const std::vector<int>& numbers,
                                  const std::vector<gather::Host>& hosts) {
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back(hosts[static_cast<std::size_t>(number)].name);
  return names;
}

/// What is believed of a step's exchange, when so much is of the steps.
double score_of(double fit, const Iterations& iterations) {
  return fit * (0.5 + 0.5 * iterations.confidence);
}

Collective collective_of(const recognise::Recognition& found, const Iterations& iterations,
                         const std::vector<gather::Host>& hosts) {
  std::optional<RunnerUp> runner_up;
  if (const auto& other = found.runner_up) {
    runner_up = {.operation = other->operation,
                 .strategy = other->strategy,
                 .ranks_on_each = other->ranks_on_each,
                 .bytes_per_iteration = static_cast<std::uint64_t>(std::llround(other->payload)),
                 .probability = other->probability};
  }
  return {.operation = found.operation,
          .strategy = found.strategy,
          .order = names_of(found.order, hosts),
          .bytes_per_iteration = static_cast<std::uint64_t>(std::llround(found.payload)),
          .count = iterations.steps.size(),
          .confidence = confidence(Claim::Strategy, score_of(found.fit, iterations)),
          .evidence = found.evidence,
          .bytes_confidence = confidence(Claim::Bytes, score_of(found.payload_fit, iterations)),
          .runner_up = std::move(runner_up)};
}

bool is_all_to_all(const recognise::Recognition& found) {
  return found.operation == collective::name_of(collective::Operation::AllToAll);
}

/// What a step exchanges: one collective, or two halves of sharded training; and the model's bytes.
void add_collectives(Analysis& analysis, const recognise::Recognition& found) {
  const Collective whole = collective_of(found, analysis.iterations, analysis.hosts);
  if (!is_all_to_all(found)) analysis.model_bytes = whole.bytes_per_iteration;
  if (!found.sharding) {
    analysis.collectives.push_back(whole);
    return;
  }
  const auto add_half = [&](const char* operation, double bytes) {
    Collective& half = analysis.collectives.emplace_back(whole);
    half.operation = operation;
    half.bytes_per_iteration = static_cast<std::uint64_t>(std::llround(bytes));
  };
  add_half(kAllGather, found.sharding->gathered);
  add_half(kReduceScatter, found.sharding->scattered);
}

Collective collective_of(const recognise::Pulls& pulls, const Iterations& iterations,
                         const std::vector<gather::Host>& hosts) {
  std::vector<int> order = pulls.servers;
  for (const auto& [host, own] : pulls.by_host) order.push_back(host);
  const bool is_served = !pulls.servers.empty();
  const double score = pulls.share * (0.5 + 0.5 * pulls.regularity) *
                       (is_served ? 1 - recognise::kAssumed.service : 1);
  const collective::Strategy& strategy =
      collective::strategy(is_served ? collective::ps : collective::pair_averaging);
  return {.operation = std::string(collective::name_of(strategy.operation)),
          .strategy = std::string(strategy.name),
          .order = names_of(order, hosts),
          .bytes_per_iteration = static_cast<std::uint64_t>(std::llround(pulls.bytes)),
          .count = iterations.steps.size(),
          .confidence = confidence(Claim::Strategy, score),
          .evidence = is_served
                          ? "workers and servers send each other the same in turns, and servers "
                            "answer one before they have heard of the others"
                          : "every transfer has the same size, and each host gets one after the "
                            "other, from changing others, at an even pace",
          .bytes_confidence = confidence(Claim::Bytes, score)};
}

void set_roles(Analysis& analysis, const recognise::Job& job, const gather::Captured& traffic,
               const std::vector<int>& host_of) {
  std::vector<double> other(analysis.hosts.size(), 0);
  double gradient = 0;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const flow::Flow& flow = traffic.flows[i];
    const auto bytes = static_cast<double>(flow.stream_bytes());
    const bool is_gradient = analysis.classes[i] == FlowClass::Gradient;
    gradient += is_gradient ? bytes : 0;
    for (const std::uint32_t address : {flow.key.source, flow.key.destination}) {
      if (host_of[address] == gather::kNoHost) continue;
      const auto host = static_cast<std::size_t>(host_of[address]);
      if (is_gradient) analysis.hosts[host].role = gather::Role::Worker;
      if (!is_gradient) other[host] += bytes;
    }
  }
  for (std::size_t i = 0; i < analysis.hosts.size(); ++i) {
    if (analysis.hosts[i].role == gather::Role::Other && gradient > 0 &&
        other[i] > kCrossTrafficShare * gradient) {
      analysis.hosts[i].role = gather::Role::CrossTraffic;
    }
  }
  std::vector<int> servers;
  if (job.recognition) servers = job.recognition->servers;
  if (job.pulls) servers = job.pulls->servers;
  for (const int server : servers) {
    analysis.hosts[static_cast<std::size_t>(server)].role = gather::Role::Server;
  }
}

/// Says what else the steps could be, where that is worth a word.
void doubt(Iterations& iterations, const rhythm::Alternative& alternative) {
  if (alternative.probability < kWorthAWord) return;
  iterations.other = {
      .count = std::round(static_cast<double>(iterations.steps.size()) * alternative.steps),
      .median_s = iterations.median_s / alternative.steps,
      .probability = alternative.probability};
  iterations.confidence *= 1 - alternative.probability;
  iterations.evidence += fmt::format(
      "; {:.0f} steps of {} are another reading (probability {:.2f})", iterations.other->count,
      readable(from_seconds(iterations.other->median_s)), alternative.probability);
}

/// Whose steps are reported: rank 0's, when the initial broadcast shows it.
int reference_host(const recognise::Job& job,
                   const std::optional<recognise::StartBroadcast>& start) {
  if (start) return start->order.front();
  if (job.recognition) return job.recognition->starters.front();
  return rhythm::hosts_of(*job.exchanges).front();
}

/// The program's own steps decide: where several of the exchanges that the packets show make one of
/// its steps (the rounds of a ring behind a slow link), the collective is all of them together. Who
/// was late between rounds is no straggler.
void follow_log(Analysis& analysis, const Iterations& inferred) {
  const auto& steps = analysis.iterations.steps;
  if (analysis.collectives.empty() || steps.empty()) return;
  // A log may tell of a part of the capture only.
  const auto within =
      std::count_if(inferred.steps.begin(), inferred.steps.end(), [&](const auto& step) {
        return step.start_ns >= steps.front().start_ns && step.start_ns < steps.back().end_ns;
      });
  Collective& collective = analysis.collectives.front();
  const double ratio = static_cast<double>(within) / static_cast<double>(steps.size());
  const double exchanges = std::round(ratio);
  if (exchanges < 2 || std::abs(ratio - exchanges) > 0.15) return;
  collective.bytes_per_iteration *= static_cast<std::uint64_t>(exchanges);
  collective.count = steps.size();
  collective.evidence += fmt::format("; {} exchanges in each step of the log", exchanges);
  if (analysis.model_bytes) analysis.model_bytes = collective.bytes_per_iteration;
  analysis.straggler.reset();
}

/// How many ranks a ring has on each host is a guess of packets; what an edge carries is not: 2 (N - 1) / N payloads of N ranks.
void follow_ranks(recognise::Recognition& ring, int ranks) {
  const auto hosts = static_cast<int>(ring.order.size());
  const bool is_known = ranks > 0 && recognise::is_ring(ring) && !ring.sharding && hosts > 1;
  if (!is_known || ranks % hosts != 0 || ranks / hosts == ring.ranks_on_each) return;
  const auto edge = [](double n) { return (n - 1) / n; };
  ring.payload *= edge(hosts * ring.ranks_on_each) / edge(ranks);
  ring.ranks_on_each = ranks / hosts;
  ring.payload_fit = ring.fit;
  ring.runner_up.reset();
  ring.evidence += fmt::format("; but files tell of {} ranks in all", ranks);
}

/// Says that one host's side is all there is, and what shows there. Returns why no strategy does.
std::string doubt_one_side(Analysis& analysis, const recognise::Job& job) {
  const recognise::OwnBytes own = recognise::own_bytes(*job.exchanges, *job.only_host);
  const std::string& name = analysis.hosts[static_cast<std::size_t>(*job.only_host)].name;
  analysis.quality.level = std::max(analysis.quality.level, Level::Fair);
  analysis.quality.reasons.push_back(
      fmt::format("one side: the capture holds packets of {} only", name));
  std::string text = fmt::format(
      "{} sends {} and receives {} in each; the strategy does not show from one side", name,
      readable(Bytes(std::llround(own.sent))), readable(Bytes(std::llround(own.received))));
  if (job.ring_guess) {
    analysis.model_bytes = static_cast<std::uint64_t>(std::llround(job.ring_guess->payload));
    text += fmt::format(
        "; a ring of the {} hosts that are connected with it would carry {} of gradients (guessed)",
        job.ring_guess->hosts, readable(Bytes(std::llround(job.ring_guess->payload))));
  }
  return text;
}

/// What was looked for where nothing was found; what repeats is named.
std::string looked_for(const recognise::Job& job, const std::vector<gather::Host>& hosts) {
  if (!job.repetition) return job.looked_for;
  std::vector<std::string> names = names_of(job.repetition->hosts, hosts);
  const std::size_t all = names.size();
  if (all > kMostNames) names.resize(kMostNames - 1);
  std::string among = fmt::format("{}", fmt::join(names, ", "));
  if (all > names.size()) among += fmt::format(" and {} others", all - names.size());
  return fmt::format("traffic repeats every {} between {}, but nothing makes it a training job: {}",
                     readable(Duration(std::llround(job.repetition->period_ns))), among,
                     job.repetition->why_not);
}

}  // namespace

Analysis analyse(const gather::Captured& traffic, const AnalysisOptions& options) {
  Analysis analysis;
  gather::HostTable table = gather::host_table(traffic, options.names);
  analysis.hosts = std::move(table.hosts);
  recognise::Jobs jobs = recognise::find_jobs(traffic, table.host_of, options.log);
  const recognise::Job& job = jobs.main;
  analysis.other_jobs = std::move(jobs.others);
  const std::vector<std::size_t> gradient = job.gradient_flows();
  analysis.classes = classify(traffic, gradient);
  set_roles(analysis, job, traffic, table.host_of);
  // Takes as long as finding the iterations, and needs nothing of them.
  std::future<Trouble> trouble =
      std::async(std::launch::async, [&] { return find_trouble(analysis.hosts, job, traffic); });

  std::optional<recognise::StartBroadcast> start;
  if (job.recognition) {
    start = recognise::find_broadcast(*job.exchanges, *job.recognition, traffic, table.host_of);
  }
  if (job.exchanges) {
    analysis.iterations =
        iterations_of(*job.exchanges, reference_host(job, start), traffic, gradient);
    if (job.alternative) doubt(analysis.iterations, *job.alternative);
    if (job.from_log) analysis.iterations.confidence = 1;
  } else if (job.pulls) {
    analysis.iterations = iterations_of(*job.pulls, traffic, gradient);
  }
  if (job.recognition) {
    recognise::Recognition found = *job.recognition;
    follow_ranks(found, options.ranks);
    add_collectives(analysis, found);
    if (start) {
      analysis.collectives.push_back(
          {.operation = "broadcast",
           .strategy = std::string(collective::strategy(collective::tree).name),
           .order = names_of(start->order, analysis.hosts),
           .bytes_per_iteration = start->bytes,
           .confidence = start->confidence,
           .evidence = start->evidence});
    }
  } else if (job.pulls) {
    analysis.collectives.push_back(collective_of(*job.pulls, analysis.iterations, analysis.hosts));
    analysis.model_bytes = analysis.collectives.front().bytes_per_iteration;
  }
  // What was said of collectives hangs on the score of the steps, not on what that is worth.
  if (!analysis.iterations.steps.empty() && !job.from_log) {
    analysis.iterations.confidence =
        confidence(Claim::Steps, analysis.iterations.confidence * (1 - job.doubt));
  }
  Trouble found = trouble.get();
  analysis.bottleneck = std::move(found.bottleneck);
  analysis.straggler = std::move(found.straggler);
  if (options.log) {
    const Iterations inferred =
        std::exchange(analysis.iterations, iterations_of(*options.log, traffic, gradient));
    follow_log(analysis, inferred);
  }
  analysis.quality = quality_of(traffic, analysis.iterations);
  const std::string unknown = job.only_host ? doubt_one_side(analysis, job) : kFitsNothing;
  analysis.findings = findings_of(analysis, traffic, looked_for(job, analysis.hosts), unknown);
  return analysis;
}

}  // namespace tw::diagnose
