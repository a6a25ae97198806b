// SPDX-License-Identifier: Apache-2.0
// What packets show of a run: captures, hosts, pairs, flows, iterations, collectives, and who is
// slow. Names of fields are those of the documents; hosts are named as in the experiment, or by
// address.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

/// Where reading a file had to end, and why.
struct Damage {
  std::int64_t offset = 0;
  std::string text = {};
  bool operator==(const Damage&) const = default;
};

struct CaptureFile {
  std::string path = {};
  std::string format = {};
  std::string compression = {};
  std::int64_t file_bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t duplicates = 0;
  double first_s = 0;  ///< since 1970, as last_s
  double last_s = 0;
  std::optional<std::uint64_t> dropped = {};
  std::optional<Damage> damage = {};
  bool clock_known = false;
  double clock_offset_s = 0;
  double clock_uncertainty_s = 0;
  double clock_drift_ppm = 0;
  std::uint64_t point_of_view = 0;
  bool operator==(const CaptureFile&) const = default;
};

/// How many there were of one kind.
struct Count {
  std::string of = {};
  std::uint64_t count = 0;
  bool operator==(const Count&) const = default;
};

struct Capture {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  double duration_s = 0;
  double start_s = 0;  ///< since 1970
  std::optional<std::uint64_t> dropped = {};
  bool interrupted = false;
  std::uint64_t super_frames = 0;
  std::vector<Count> verdicts = {};
  double window_s = 0;
  std::vector<CaptureFile> files = {};
  bool operator==(const Capture&) const = default;
};

struct Quality {
  std::string level = {};  ///< good, fair, poor
  std::vector<std::string> reasons = {};
  bool operator==(const Quality&) const = default;
};

struct Host {
  std::string name = {};
  std::vector<std::string> addresses = {};
  std::string role = {};  ///< worker, server, chief, cross_traffic, other
  bool operator==(const Host&) const = default;
};

/// A directed pair of hosts; each packet counts once.
struct Pair {
  std::string from = {};
  std::string to = {};
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t stream_bytes = 0;
  std::uint64_t retransmitted_bytes = 0;
  bool operator==(const Pair&) const = default;
};

struct FlowClasses {
  std::uint64_t gradient = 0;
  std::uint64_t acknowledgement = 0;
  std::uint64_t control = 0;
  std::uint64_t tiny = 0;
  std::uint64_t cross = 0;

  std::uint64_t sum() const { return gradient + acknowledgement + control + tiny + cross; }
  bool operator==(const FlowClasses&) const = default;
};

struct Flows {
  std::uint64_t count = 0;
  FlowClasses by_class = {};
  std::uint64_t small_and_finished = 0;
  bool operator==(const Flows&) const = default;
};

/// The host and direction with the highest peak.
struct BusiestHost {
  std::string host = {};
  std::string direction = {};  ///< from_host, to_host
  double mean_bps = 0;
  double peak_bps = 0;
  bool operator==(const BusiestHost&) const = default;
};

/// Bytes over time, of everything.
struct Rates {
  double mean_bps = 0;
  double peak_bps = 0;  ///< in the fullest window of `peak_window_s`
  std::optional<double> peak_to_mean = {};
  double peak_window_s = 0;
  BusiestHost busiest = {};
  double retransmitted_share = 0;
  bool operator==(const Rates&) const = default;
};

/// Stretches of gradients without a pause longer than `gap_s`; nothing of them without any.
struct Bursts {
  std::uint64_t count = 0;
  double gap_s = 0;
  std::optional<double> median_bytes = {};
  std::optional<double> completion_p50_s = {};
  std::optional<double> completion_p99_s = {};
  bool operator==(const Bursts&) const = default;
};

/// The next best reading of the same packets.
struct OtherSteps {
  double count = 0;
  double median_s = 0;
  double probability = 0;
  bool operator==(const OtherSteps&) const = default;
};

/// Training steps as the wire shows them, or as ranks logged them where there are no packets: then
/// there is no `evidence`, and what follows it is not known either.
struct Iterations {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> averages =
      {};                   ///< what tells them, where lines tell averages of several
  std::string source = {};  ///< log, inferred
  double confidence = 0;
  std::optional<std::string> evidence = {};
  bool first_untypical = false;
  std::optional<double> median_s = {};
  std::optional<double> ci_low_s = {};
  std::optional<double> ci_high_s = {};
  std::optional<double> p99_s = {};
  std::optional<double> mean_s = {};
  std::optional<double> usual_s = {};  ///< of the half of them that is most alike
  std::optional<double> compute_gap_s = {};
  std::optional<double> exchange_s = {};
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_during = 0;
  std::uint64_t bytes_after = 0;
  std::uint64_t packets_before = 0;
  std::uint64_t packets_during = 0;
  std::uint64_t packets_after = 0;
  std::vector<double> times_s = {};
  std::vector<double> starts_s = {};  ///< since 1970
  std::optional<OtherSteps> runner_up = {};
  std::optional<std::string> job = {};  ///< whose they are, where there are several
  bool operator==(const Iterations&) const = default;
};

/// The next best explanation of what a step exchanges.
struct RunnerUp {
  std::string operation = {};
  std::string strategy = {};
  std::int64_t ranks_on_each = 1;  ///< host
  std::uint64_t bytes_per_iteration = 0;
  double probability = 0;
  bool operator==(const RunnerUp&) const = default;
};

struct Collective {
  std::string operation = {};
  std::string strategy = {};
  std::vector<std::string> order = {};  ///< hosts, in the ring's direction or root first
  std::uint64_t bytes_per_iteration = 0;
  std::uint64_t count = 0;  ///< iterations in which it was seen
  std::vector<std::uint64_t> buckets = {};
  double confidence = 0;
  std::string evidence = {};
  std::optional<double> time_s = {};  ///< of the collective that carries most
  std::optional<double> algbw_bps = {};
  std::optional<double> busbw_bps = {};
  std::optional<double> bytes_confidence = {};  ///< that the bytes are right as well
  std::optional<RunnerUp> runner_up = {};
  std::optional<std::string> job = {};  ///< whose it is, where there are several
  bool operator==(const Collective&) const = default;
};

struct Bottleneck {
  std::string from = {};
  std::string to = {};
  double rate_bps = 0;
  double confidence = 0;
  std::string evidence = {};
  bool operator==(const Bottleneck&) const = default;
};

struct Straggler {
  std::string host = {};
  double delay_s = 0;
  double confidence = 0;
  std::string evidence = {};
  std::optional<std::int64_t> rank = {};  ///< where records name it
  bool operator==(const Straggler&) const = default;
};

struct Finding {
  std::string text = {};
  std::string severity = {};               ///< info, notice, warning
  std::optional<std::string> job = {};     ///< of which it is, where there are several
  std::optional<std::string> kind = {};    ///< one of diagnose/finding_kinds.h
  std::optional<std::string> filter = {};  ///< its packets, in Wireshark's words
  bool operator==(const Finding&) const = default;
};

}  // namespace tw::record
