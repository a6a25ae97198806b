// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/kineto.h"

#include "trainwire/readers/json_pieces.h"
#include "trainwire/readers/kineto_fields.h"

#include <algorithm>
#include <unordered_map>

namespace tw::readers {
namespace {

using operations::Operation;
using operations::Span;
using operations::Told;

constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kMostSpans = 8'000'000;
/// Pauses between kernels that are no pause of computing.
constexpr std::int64_t kSpanGap_ns = 10'000;
constexpr std::int64_t kLongest_ns = 1'000'000'000'000'000;  ///< eleven days

struct Event {
  std::string_view category = {};
  std::string_view process = {};
  std::string_view name = {};
  std::string_view args = {};
  std::optional<std::int64_t> start_ns = {};
  std::int64_t duration_ns = 0;
};

class Reading {
 public:
  explicit Reading(Told& told) : told_(told) {}

  void member(std::string_view key, std::string_view value) {
    if (key == "baseTimeNanoseconds") base_ns_ = whole_of(value).value_or(0);
    if (key == "deviceProperties") has_device_ = Elements(value).next();
    if (key == "distributedInfo") {
      for (Members each(value); each.next();) {
        const auto number = whole_of(each.value());
        if (each.key() == "rank") set_rank(number);
        if (each.key() == "world_size" && is_small(number))
          told_.world_size = static_cast<int>(*number);
      }
    }
  }

  /// Looks no further than it must: most events are of no interest.
  void event(std::string_view text) {
    ++events_;
    Event event;
    bool is_timeless = false;
    Members each(text);
    while (each.next()) {
      const std::string_view key = each.key();
      if (key == "ph" && each.value() != "\"X\"") return;  // arrows, counters, names
      if (key == "cat") event.category = string_of(each.value());
      if (key == "name") event.name = string_of(each.value());
      if (key == "ts") event.start_ns = micros_of(each.value());
      if (key == "dur") {
        const auto duration_ns = micros_of(each.value());
        is_timeless = !duration_ns;
        event.duration_ns = duration_ns.value_or(0);
      }
      if (key == "args") event.args = each.value();
      if (key == "pid") event.process = string_of(each.value());
      if (!event.category.empty() && !event.name.empty() && !interests(event) &&
          !computes_on_host(event))
        return;
    }
    if (!event.start_ns || is_timeless) {
      if (!interests(event)) return;
      ++timeless_;
      return skips_.add("events whose times are no numbers");
    }
    if (event.category.empty()) ++uncategorised_;
    if (event.category.empty() && !take_old(event)) return;
    if (event.duration_ns < 0 || event.duration_ns > kLongest_ns)
      return skips_.add("events of impossible length");
    if (computes_on_host(event)) {
      computed_on_host({*event.start_ns, *event.start_ns + event.duration_ns});
    } else {
      take(event);
    }
  }

  void finish(bool ended_early);

 private:
  static bool is_kernel(const Event& event) {
    return event.category == "kernel" || event.category == "Kernel";
  }
  static bool is_annotation(std::string_view name) {
    return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") ||
           name.starts_with("ucc:") || name.starts_with("xccl:");
  }
  static bool is_step(std::string_view name) { return name.starts_with("ProfilerStep#"); }

  static bool interests(const Event& event) {
    if (is_kernel(event)) return true;
    if (event.category == "cpu_op" || event.category == "user_annotation" ||
        event.category == "Operator") {
      return event.name == "record_param_comms" || is_annotation(event.name) || is_step(event.name);
    }
    return false;
  }

  /// With a device, whose properties stand before all events, what the host does is but to start what that computes.
  bool computes_on_host(const Event& event) const {
    return !has_device_ && event.category == "cpu_op" && event.name.starts_with("aten::");
  }

  /// PyTorch without Kineto writes no categories, but processes "CPU functions" and "CUDA functions".
  bool take_old(Event& event) {
    if (event.process == "CUDA functions") {
      event.category = "kernel";
      return true;
    }
    if (event.process != "CPU functions") return false;
    event.category = "cpu_op";
    if (interests(event)) return true;
    if (event.name.starts_with("aten::"))
      computed_on_host({*event.start_ns, *event.start_ns + event.duration_ns});
    return false;
  }

  void take(const Event& event) {
    if (is_kernel(event)) return kernel(event);
    if (is_step(event.name)) return step(event);
    KinetoFields fields = kineto_fields(event.args);
    fields.enqueue_ns = *event.start_ns;
    set_rank(fields.rank);
    if (event.name != "record_param_comms") {
      if (event.name.starts_with("gloo:") || event.name.starts_with("mpi:"))
        host_side(event, fields);
      fields.collective = event.name;
    }
    if (!fields.id) return;
    KinetoFields& known = by_id_[*fields.id];
    if (!has_size(known) || event.name == "record_param_comms") known = std::move(fields);
  }

  void kernel(const Event& event) {
    // Another library's kernels tell by their fields what they are.
    const bool is_collective = is_kernel_of_nccl(event.name) ||
                               event.args.find("\"Collective name\"") != std::string_view::npos;
    if (!is_collective) {
      computed({*event.start_ns, *event.start_ns + event.duration_ns});
      return;
    }
    if (kernels_.size() >= kMostOperations) return skips_.add("kernels beyond four million");
    Operation made{.op = op_of_kernel(event.name),
                   .algorithm = algorithm_of_kernel(event.name),
                   .start_ns = event.start_ns,
                   .end_ns = *event.start_ns + event.duration_ns,
                   .state = operations::State::Completed};
    const KinetoFields fields = kineto_fields(event.args);
    put_fields(fields, made);
    kernels_.push_back({std::move(made), has_size(fields), fields.id});
  }

  void host_side(const Event& event, const KinetoFields& fields) {
    if (on_host_.size() >= kMostOperations) return skips_.add("annotations beyond four million");
    Operation made{.op = operations::canonical_op(event.name),
                   .start_ns = event.start_ns,
                   .end_ns = *event.start_ns + event.duration_ns,
                   .state = operations::State::Completed};
    put_fields(fields, made);
    if (!made.op.empty()) on_host_.push_back({std::move(made), has_size(fields), fields.id});
  }

  void step(const Event& event) {
    if (event.category == "gpu_user_annotation" || told_.steps.size() >= kMostOperations) return;
    const auto number = whole_of(event.name.substr(event.name.find('#') + 1));
    if (number) {
      told_.steps.push_back(
          {.number = *number, .start_ns = event.start_ns, .duration_ns = event.duration_ns});
    }
  }

  void computed(Span span) { add(span, told_.computing); }
  void computed_on_host(Span span) { add(span, on_host_spans_); }

  static void add(Span span, std::vector<Span>& into) {
    if (!into.empty()) {
      Span& last = into.back();
      if (span.start_ns >= last.start_ns && span.start_ns <= last.end_ns + kSpanGap_ns) {
        last.end_ns = std::max(last.end_ns, span.end_ns);
        return;
      }
    }
    if (into.size() < kMostSpans) into.push_back(span);
  }

  void set_rank(std::optional<std::int64_t> rank) {
    if (is_small(rank)) told_.rank = static_cast<int>(*rank);
  }

  struct Seen {
    Operation operation;
    bool sized;
    std::optional<std::int64_t> id;
  };
  void keep(std::vector<Seen>& seen);
  void keep_asked();
  void drop_untold_steps();
  static std::int64_t time_of(const Operation& each) {
    return each.start_ns.value_or(each.enqueue_ns.value_or(0));
  }
  void move_times();

  Told& told_;
  operations::Skips skips_;
  std::int64_t base_ns_ = 0;
  bool has_device_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t unsized_ = 0;
  std::uint64_t timeless_ = 0;
  std::uint64_t uncategorised_ = 0;
  std::unordered_map<std::int64_t, KinetoFields> by_id_;
  std::vector<Seen> kernels_;
  std::vector<Seen> on_host_;
  std::vector<Span> on_host_spans_;
};

void Reading::keep(std::vector<Seen>& seen) {
  for (Seen& each : seen) {
    const auto known = each.id ? by_id_.find(*each.id) : by_id_.end();
    if (known != by_id_.end()) {
      if (!each.sized) put_fields(known->second, each.operation);
      if (!each.operation.enqueue_ns && known->second.enqueue_ns >= 0) {
        each.operation.enqueue_ns = known->second.enqueue_ns;
      }
    }
    if (each.operation.op.empty()) {
      skips_.add("NCCL kernels of which no field says what they do");
      continue;
    }
    if (!each.operation.bytes) ++unsized_;  // kept: when it ran is known, only its size is not
    each.operation.rank = told_.rank;
    told_.operations.push_back(std::move(each.operation));
  }
}

/// Traces of the host alone tell what was asked for, not when it ran.
void Reading::keep_asked() {
  for (const auto& [id, fields] : by_id_) {
    Operation made;
    put_fields(fields, made);
    if (made.op.empty() || !made.bytes || told_.operations.size() >= kMostOperations) continue;
    made.rank = told_.rank;
    told_.operations.push_back(std::move(made));
  }
  if (told_.operations.empty()) return;
  told_.reasons.emplace_back(
      "no kernel of a collective is in it, so that only sizes are told: record with "
      "ProfilerActivity.CUDA too");
}

/// Spans that came out of order are joined.
std::vector<Span> joined(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  std::vector<Span> made;
  for (const Span& span : spans) {
    if (!made.empty() && span.start_ns <= made.back().end_ns + kSpanGap_ns) {
      made.back().end_ns = std::max(made.back().end_ns, span.end_ns);
    } else {
      made.push_back(span);
    }
  }
  return made;
}

void Reading::move_times() {
  const auto move = [&](std::optional<std::int64_t>& time) {
    if (time) *time += base_ns_;
  };
  for (Operation& each : told_.operations) {
    move(each.enqueue_ns);
    move(each.start_ns);
    move(each.end_ns);
  }
  for (operations::Step& each : told_.steps) {
    move(each.start_ns);
    each.rank = told_.rank;
  }
  for (Span& each : told_.computing) {
    each.start_ns += base_ns_;
    each.end_ns += base_ns_;
  }
}

/// Steps stand before kernels, so that a file that was cut off has steps of which it tells nothing else.
void Reading::drop_untold_steps() {
  if (kernels_.empty()) return;
  std::int64_t end_ns = 0;
  for (const Seen& each : kernels_) end_ns = std::max(end_ns, *each.operation.end_ns);
  std::erase_if(told_.steps, [&](const operations::Step& each) {
    return *each.start_ns + each.duration_ns / 2 > end_ns;
  });
}

void Reading::finish(bool ended_early) {
  told_.is_cut_off = ended_early;
  if (ended_early) drop_untold_steps();
  constexpr std::int64_t kMostBase = std::int64_t{1} << 61;  // 2043
  if (base_ns_ < 0 || base_ns_ > kMostBase) base_ns_ = 0;
  if (kernels_.empty() && on_host_.empty()) {
    keep_asked();
  } else {
    keep(kernels_.empty() ? on_host_ : kernels_);
  }
  if (kernels_.empty() && told_.computing.empty()) told_.computing = std::move(on_host_spans_);
  std::stable_sort(told_.operations.begin(), told_.operations.end(),
                   [](const Operation& a, const Operation& b) { return time_of(a) < time_of(b); });
  told_.computing = joined(std::move(told_.computing));
  move_times();
  constexpr std::int64_t kLongAgo = 100'000'000'000'000'000;  // 1973: no trace is of then
  const bool own_clock = !told_.operations.empty() && time_of(told_.operations.back()) < kLongAgo;
  if (own_clock) {
    for (Operation& each : told_.operations) each.clock = operations::Clock::Process;
    for (operations::Step& each : told_.steps) each.start_ns.reset();
  }
  told_.records = told_.operations.size();
  skips_.write_to(told_);
  if (unsized_ > 0) {
    told_.reasons.push_back(std::to_string(unsized_) + " collectives have no size in the trace");
  }
  if (ended_early)
    told_.reasons.emplace_back("the file ends in the middle; what is before was used");
  const bool is_foreign = uncategorised_ > 0 && told_.computing.empty() && told_.steps.empty();
  if (told_.operations.empty() && is_foreign) {
    told_.reasons.emplace_back(
        "its events have no categories, as those of JAX, TensorFlow and Ascend have none: of these "
        "nothing is read, only torch.profiler's traces of CUDA and ROCm");
  } else if (told_.operations.empty() && timeless_ == 0) {
    told_.reasons.push_back(
        "no collective among " + std::to_string(events_) +
        " events: record with ProfilerActivity.CUDA, in a job of several ranks");
  }
}

}  // namespace

void read_kineto(capture::ByteSource& source, Told& told) {
  Reading reading(told);
  Pieces pieces(source, "traceEvents");
  while (pieces.next()) {
    if (pieces.is_element()) {
      reading.event(pieces.value());
    } else {
      reading.member(pieces.key(), pieces.value());
    }
  }
  reading.finish(pieces.ended_early());
}

}  // namespace tw::readers
