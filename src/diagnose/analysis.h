// SPDX-License-Identifier: Apache-2.0
// What the traffic means: hosts and roles, iterations, collectives, the bottleneck, the straggler,
// and findings in words.
//
// Recognition is from first principles: who sends how much to whom in each iteration, and in which
// order. No port number and no known size is used. Every claim carries its evidence, a confidence
// in 0..1 (how often such claims are right, confidence.h) and the runner-up where there is one; what
// is a guess is called one.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/gather/hosts.h"
#include "trainwire/imports/step_log.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::diagnose {

enum class FlowClass { Gradient, Acknowledgement, Control, Tiny, Cross };
enum class Level { Good, Fair, Poor };
enum class Severity { Info, Notice, Warning };

/// One training step as the wire shows it. Times in nanoseconds on the capture's clock.
///
/// On the wire it is one host's step, from the last gradient byte that the host receives in one
/// exchange to the last in the next; from a log it is that of all ranks together.
struct Iteration {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t exchange_start_ns;
  std::int64_t exchange_end_ns;
  std::uint64_t bytes;  ///< stream bytes of gradient flows
  std::uint64_t packets;
};

/// The next best reading of the same packets: `count` steps, each with the same part of the bytes.
struct OtherSteps {
  double count;
  double median_s;
  double probability;  ///< at most a half; what the confidence lacks because of it
};

struct Iterations {
  std::vector<Iteration> steps;  ///< without start-up; the first may be untypical (see below)
  bool from_log = false;
  double confidence = 0;
  std::optional<OtherSteps> other = {};
  bool first_untypical = false;
  /// Period: median over the steps of all hosts (from a log: of their means over the ranks) but the first, with a 95
  /// % interval that respects autocorrelation; of a log that tells fewer than three times there is none.
  double median_s = 0;
  std::optional<double> ci_low_s = {};
  std::optional<double> ci_high_s = {};
  std::optional<std::size_t> averages =
      {};  ///< what tells the steps, where a log's lines tell averages of several
  double p99_s = 0;
  double mean_s = 0;
  double usual_s = 0;        ///< of the half of them that is most alike
  double compute_gap_s = 0;  ///< median time without gradient bytes
  double exchange_s = 0;     ///< median time from first to last gradient byte of the slowest host
  std::string
      evidence;  ///< "largest pause 41 ms against 2 ms inside; bytes per step vary by 0.1 %"
  std::uint64_t bytes_before = 0, bytes_during = 0, bytes_after = 0;
  std::uint64_t packets_before = 0, packets_during = 0, packets_after = 0;
};

/// The next best explanation of what a step exchanges.
struct RunnerUp {
  std::string operation;
  std::string strategy;
  int ranks_on_each;  ///< host
  std::uint64_t bytes_per_iteration;
  double probability;
};

inline constexpr const char* kAllGather = "all_gather";
inline constexpr const char* kReduceScatter = "reduce_scatter";

struct Collective {
  /// all_reduce, parameter_server, pair_averaging, all_to_all, step_broadcast; all_gather and
  /// reduce_scatter: of sharded training; broadcast: before the first step
  std::string operation;
  std::string strategy;  ///< a strategy name of the catalogue, or "unknown"
  std::vector<std::string>
      order;  ///< hosts: along the ring; root first for trees; servers first for ps
  std::uint64_t bytes_per_iteration;        ///< payload of the collective, M
  std::size_t count = 1;                    ///< iterations in which it was seen; 1 at the start
  std::vector<std::uint64_t> buckets = {};  ///< sizes where visible
  double confidence;
  std::string evidence;
  std::optional<double> bytes_confidence = {};  ///< that the bytes are right as well
  std::optional<RunnerUp> runner_up = {};
};

struct Bottleneck {
  std::string from;
  std::string to;
  double rate_bps;
  double confidence;
  std::string evidence;
};

struct Straggler {
  std::string host;
  double delay_s;
  double confidence;
  std::string evidence;
};

struct Finding {
  std::string text;
  Severity severity;
  std::string kind = {};  ///< one of finding_kinds.h
};

struct Quality {
  Level level;
  std::vector<std::string> reasons;
};

struct Analysis {
  std::vector<gather::Host> hosts;
  std::vector<FlowClass> classes;  ///< of Traffic::flows, same order
  Iterations iterations;
  std::vector<Collective> collectives;
  std::optional<std::uint64_t> model_bytes;
  std::optional<Bottleneck> bottleneck;
  std::optional<Straggler> straggler;
  std::vector<Finding> findings;  ///< at most seven, most important first; never empty
  Quality quality;
  /// Of each other job that was found beside this one: numbers of its flows, rising.
  std::vector<std::vector<std::size_t>> other_jobs = {};
};

struct AnalysisOptions {
  /// Steps that the program logged; they then define the iterations.
  std::optional<imports::StepLog> log = {};
  /// Address text to host name, from a hosts file.
  std::vector<std::pair<std::string, std::string>> names = {};
  int ranks = 0;  ///< of the job, where another source tells them: a ring's bytes hang on them
};

Analysis analyse(const gather::Captured& traffic, const AnalysisOptions& options = {});

}  // namespace tw::diagnose
