// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/inspector.h"

#include "trainwire/base/printable.h"
#include "trainwire/readers/brackets.h"
#include "trainwire/readers/json_pieces.h"
#include "trainwire/readers/nccl_lines.h"

#include <algorithm>

namespace tw::readers {
namespace {

using operations::Operation;

constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kLongestSpread = std::size_t{64} << 10;  ///< a record on many lines

void put_header(std::string_view header, Operation& into) {
  for (Members each(header); each.next();) {
    const auto number = whole_of(each.value());
    const bool fits = number && *number >= 0 && *number < 10'000'000;
    if (each.key() == "id") into.group = printable(string_of(each.value()).substr(0, 64));
    if (each.key() == "rank" && fits) into.rank = static_cast<int>(*number);
    if (each.key() == "n_ranks" && fits) into.group_size = static_cast<int>(*number);
  }
}

/// "event_trace_ts": {"coll_start_ts": us, "coll_stop_ts": us, "kernel_events": [{"kernel_start_ts", ...}]}.
void put_stamps(std::string_view stamps, Operation& into) {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> stop;
  for (Members each(stamps); each.next();) {
    if (each.key() == "coll_start_ts" || each.key() == "p2p_start_ts")
      into.enqueue_ns = micros_of(each.value());
    if (each.key() != "kernel_events") continue;
    for (Elements kernels(each.value()); kernels.next();) {
      for (Members of(kernels.value()); of.next();) {
        // Another profiler's: stamps are ticks of the GPU, beside what they come to.
        if (of.key() == "duration_us") return;
        const auto time = micros_of(of.value());
        if (!time || *time <= 0) continue;
        if (of.key() == "kernel_start_ts") start = std::min(start.value_or(*time), *time);
        if (of.key() == "kernel_stop_ts") stop = std::max(stop.value_or(*time), *time);
      }
    }
  }
  if (start && stop && *stop >= *start) {
    into.start_ns = start;
    into.end_ns = stop;
  }
}

/// "coll_perf" or "p2p_perf". False when it tells no operation.
bool put_performance(std::string_view performance, Operation& into) {
  std::optional<double> time_us;
  for (Members each(performance); each.next();) {
    const std::string_view key = each.key();
    if (key == "coll" || key == "p2p") into.op = operations::canonical_op(string_of(each.value()));
    if (key == "coll_sn" || key == "p2p_sn") into.sequence = whole_of(each.value());
    if (key.ends_with("_msg_size_bytes")) into.bytes = whole_of(each.value());
    if (key.ends_with("_exec_time_us")) time_us = number_of(each.value());
    if (key == "coll_algo") into.algorithm = algorithm_name(string_of(each.value()));
    if (key == "coll_proto") into.protocol = protocol_name(string_of(each.value()));
    if (key == "event_trace_ts") put_stamps(each.value(), into);
    if (key == "p2p_peer") {
      const auto peer = whole_of(each.value());
      if (peer && *peer >= 0 && *peer < 10'000'000) into.peer = static_cast<int>(*peer);
    }
  }
  if (into.bytes && *into.bytes < 0) into.bytes.reset();
  if (!into.start_ns && time_us && *time_us >= 0 && *time_us < 1e15) {
    into.clock = operations::Clock::Alone;
    into.start_ns = 0;
    into.end_ns = static_cast<std::int64_t>(*time_us * 1000);
  }
  into.state = operations::State::Completed;
  return !into.op.empty();
}

}  // namespace

/// People show a record on many lines, as jq prints it: its last brace stands where its first does.
void Inspector::line(std::string_view text) {
  const std::size_t begin = text.find_first_of("{}");
  if (!spread_.empty() && begin == indent_) {
    if (text[begin] == '}') record(spread_ += '}');
    spread_.clear();
    if (text[begin] == '}') return;
  }
  if (!spread_.empty()) {
    spread_ += text;
    if (spread_.size() > kLongestSpread) spread_.clear();
    return;
  }
  const std::size_t first = text.find('{');
  if (first == text.npos) return;
  text.remove_prefix(first);
  const bool is_spread = text.find_first_not_of(" \t\r{") == text.npos;
  if (!is_spread) return record(text);
  spread_ = "{";
  indent_ = first;
}

void Inspector::record(std::string_view text) {
  if (!closed_at(text)) {
    if (text.find("\"header\"") != std::string_view::npos) skips_.add("records that are cut off");
    return;
  }
  Operation made;
  bool has_header = false;
  bool has_body = false;
  bool has_performance = false;
  bool is_statistics = false;
  for (Members each(text); each.next();) {
    if (each.key() == "header") {
      put_header(each.value(), made);
      has_header = true;
    }
    if (each.key() == "dump_stats") {
      put_statistics(each.value());
      is_statistics = true;
    }
    if (each.key() == "metadata") {
      for (Members of(each.value()); of.next();) {
        if (of.key() == "hostname") made.host = printable(string_of(of.value()).substr(0, 256));
      }
    }
    if (each.key() == "coll_perf" || each.key() == "p2p_perf") {
      has_performance = put_performance(each.value(), made);
      has_body = true;
    }
  }
  if (is_statistics) {
    batch_ = made;
    has_batch_ = has_header;
    return;
  }
  if (!has_header && has_body && has_batch_) {
    made.group = batch_.group;
    made.rank = batch_.rank;
    made.group_size = batch_.group_size;
    made.host = batch_.host;
    has_header = true;
  }
  if (!has_header) {
    if (has_body) skips_.add("records without a header, which says whose they are");
    return;
  }
  if (!has_performance) {
    skips_.add("records without an operation");
    return;
  }
  if (told_.operations.size() >= kMostOperations) {
    skips_.add("operations beyond four million");
    return;
  }
  if (made.clock == operations::Clock::Alone) ++without_times_;
  if (made.op == "all_gather" || made.op == "reduce_scatter")
    made.bytes = made.bytes && made.group_size > 0
                     ? operations::product(*made.bytes, made.group_size)
                     : std::nullopt;
  made.group += " " + made.op;
  if (!told_.rank) told_.rank = made.rank;
  told_.operations.push_back(std::move(made));
  return;
}

void Inspector::put_statistics(std::string_view statistics) {
  for (Members each(statistics); each.next();) {
    const bool is_lost =
        each.key() == "coll_dropped_since_last_dump" || each.key() == "p2p_dropped_since_last_dump";
    const auto count = is_lost ? whole_of(each.value()) : std::nullopt;
    if (count && *count > 0) dropped_ += static_cast<std::uint64_t>(*count);
  }
}

void Inspector::finish() {
  told_.records = told_.operations.size();
  skips_.write_to(told_);
  if (dropped_ > 0) {
    told_.reasons.push_back(std::to_string(dropped_) +
                            " operations were overwritten before Inspector wrote them: let it "
                            "write more often "
                            "(NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS)");
  }
  if (without_times_ > 0) {
    told_.reasons.push_back(std::to_string(without_times_) +
                            " operations tell how long they took, not when: "
                            "NCCL_INSPECTOR_DUMP_VERBOSE=1 tells waiting from transfer");
  }
}

}  // namespace tw::readers
