// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/kineto.h"

#include "trainwire/readers/json_pieces.h"

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

/// What an event's args say of a collective.
struct Fields {
  std::string collective = {};
  std::string dtype = {};
  std::string group = {};
  std::string ranks = {};
  std::optional<std::int64_t> in = {};
  std::optional<std::int64_t> out = {};
  std::optional<std::int64_t> group_size = {};
  std::optional<std::int64_t> sequence = {};
  std::optional<std::int64_t> rank = {};
  std::optional<std::int64_t> peer = {};
  std::optional<std::int64_t> id = {};  ///< External id
  std::int64_t enqueue_ns = -1;
};

struct Event {
  std::string_view category = {};
  std::string_view name = {};
  std::string_view args = {};
  std::optional<std::int64_t> start_ns = {};
  std::int64_t duration_ns = 0;
};

/// Elements of the first tensor of "Input Dims": [[513000], []] or [[[513000]], []].
std::optional<std::int64_t> first_elements(std::string_view dims) {
  Elements outer(dims);
  if (!outer.next()) return {};
  std::string_view shape = outer.value();
  for (Elements inner(shape); inner.next();) {
    if (!inner.value().starts_with('[')) break;
    shape = inner.value();
    break;
  }
  std::int64_t elements = 1;
  bool any = false;
  for (Elements sides(shape); sides.next();) {
    const auto side = whole_of(sides.value());
    const auto more = side ? operations::product(elements, *side) : std::nullopt;
    if (!more) return {};
    elements = *more;
    any = true;
  }
  return any ? std::optional(elements) : std::nullopt;
}

std::string first_type(std::string_view types) {
  Elements each(types);
  return each.next() ? std::string(string_of(each.value())) : std::string();
}

Fields fields_of(std::string_view args) {
  Fields fields;
  std::optional<std::int64_t> dims;
  std::string type;
  std::optional<std::int64_t> source;
  for (Members each(args); each.next();) {
    const std::string_view key = each.key();
    if (key == "Collective name") fields.collective = string_of(each.value());
    if (key == "dtype") fields.dtype = string_of(each.value());
    if (key == "Process Group Name") fields.group = string_of(each.value());
    if (key == "Process Group Ranks") fields.ranks = string_of(each.value());
    if (key == "In msg nelems") fields.in = whole_of(each.value());
    if (key == "Out msg nelems") fields.out = whole_of(each.value());
    if (key == "Group size") fields.group_size = whole_of(each.value());
    if (key == "Seq") fields.sequence = whole_of(each.value());
    if (key == "Rank") fields.rank = whole_of(each.value());
    if (key == "Dst Rank") fields.peer = whole_of(each.value());
    if (key == "Src Rank") source = whole_of(each.value());
    if (key == "External id") fields.id = whole_of(each.value());
    if (key == "Input Dims") dims = first_elements(each.value());
    if (key == "Input type") type = first_type(each.value());
  }
  if (!fields.in) fields.in = dims;
  if (fields.dtype.empty()) fields.dtype = type;
  if (operations::canonical_op(fields.collective) == "recv" && source) fields.peer = source;
  return fields;
}

bool is_kernel_of_nccl(std::string_view name) {
  return name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("mscclKernel");
}

/// "AllReduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)", "ncclKernel_AllReduce_RING_LL_Sum_float".
std::string op_of_kernel(std::string_view name) {
  const std::size_t kernel = name.find("Kernel");
  if (kernel == std::string_view::npos) return {};
  std::string_view rest = name.substr(kernel + 6);
  while (rest.starts_with('_')) rest.remove_prefix(1);
  return operations::canonical_op(rest.substr(0, rest.find_first_of("_(<")));
}

/// "ring" of "..._RING_LL".
std::string algorithm_of_kernel(std::string_view name) {
  if (name.find("_RING") != std::string_view::npos) return "ring";
  if (name.find("_TREE") != std::string_view::npos) return "tree";
  if (name.find("_NVLS") != std::string_view::npos) return "nvls";
  if (name.find("_COLLNET") != std::string_view::npos) return "collnet";
  if (name.find("_PAT") != std::string_view::npos) return "pat";
  return {};
}

bool fits(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number < 10'000'000;
}

void put_fields(const Fields& fields, Operation& into) {
  if (const std::string op = operations::canonical_op(fields.collective); !op.empty()) into.op = op;
  into.dtype = fields.dtype;
  into.group = fields.group;
  if (!fields.ranks.empty()) into.group += " " + fields.ranks.substr(0, 256);
  if (fits(fields.group_size)) into.group_size = static_cast<int>(*fields.group_size);
  if (fits(fields.peer)) into.peer = static_cast<int>(*fields.peer);
  into.sequence = fields.sequence;
  if (fields.enqueue_ns >= 0) into.enqueue_ns = fields.enqueue_ns;
  const auto element = operations::element_bytes(fields.dtype);
  if (!element || (!fields.in && !fields.out)) return;
  const auto elements = operations::message_elements(into.op, fields.in.value_or(0),
                                                     fields.out.value_or(0), into.group_size);
  if (elements) into.bytes = operations::product(*elements, *element);
}

bool has_size(const Fields& fields) { return fields.in || fields.out; }

class Reading {
 public:
  explicit Reading(Told& told) : told_(told) {}

  void member(std::string_view key, std::string_view value) {
    if (key == "baseTimeNanoseconds") base_ns_ = whole_of(value).value_or(0);
    if (key == "distributedInfo") {
      for (Members each(value); each.next();) {
        if (each.key() == "rank") set_rank(whole_of(each.value()));
      }
    }
  }

  /// Looks no further than it must: most events are of no interest.
  void event(std::string_view text) {
    ++events_;
    Event event;
    Members each(text);
    while (each.next()) {
      const std::string_view key = each.key();
      if (key == "cat") event.category = string_of(each.value());
      if (key == "name") event.name = string_of(each.value());
      if (key == "ts") event.start_ns = micros_of(each.value());
      if (key == "dur") event.duration_ns = micros_of(each.value()).value_or(0);
      if (key == "args") event.args = each.value();
      if (!event.category.empty() && !event.name.empty() && !interests(event)) return;
    }
    if (event.category.empty() || !event.start_ns) return;
    if (event.duration_ns < 0 || event.duration_ns > kLongest_ns)
      return skips_.add("events of impossible length");
    take(event);
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

  void take(const Event& event) {
    if (is_kernel(event)) return kernel(event);
    if (is_step(event.name)) return step(event);
    Fields fields = fields_of(event.args);
    fields.enqueue_ns = *event.start_ns;
    set_rank(fields.rank);
    if (event.name != "record_param_comms") {
      if (event.name.starts_with("gloo:") || event.name.starts_with("mpi:"))
        host_side(event, fields);
      fields.collective = event.name;
    }
    if (!fields.id) return;
    Fields& known = by_id_[*fields.id];
    if (!has_size(known) || event.name == "record_param_comms") known = std::move(fields);
  }

  void kernel(const Event& event) {
    if (!is_kernel_of_nccl(event.name)) {
      computed({*event.start_ns, *event.start_ns + event.duration_ns});
      return;
    }
    if (kernels_.size() >= kMostOperations) return skips_.add("kernels beyond four million");
    Operation made{.op = op_of_kernel(event.name),
                   .algorithm = algorithm_of_kernel(event.name),
                   .start_ns = event.start_ns,
                   .end_ns = *event.start_ns + event.duration_ns,
                   .state = operations::State::Completed};
    const Fields fields = fields_of(event.args);
    put_fields(fields, made);
    kernels_.push_back({std::move(made), has_size(fields), fields.id});
  }

  void host_side(const Event& event, const Fields& fields) {
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

  void computed(Span span) {
    if (!told_.computing.empty()) {
      Span& last = told_.computing.back();
      if (span.start_ns >= last.start_ns && span.start_ns <= last.end_ns + kSpanGap_ns) {
        last.end_ns = std::max(last.end_ns, span.end_ns);
        return;
      }
    }
    if (told_.computing.size() < kMostSpans) told_.computing.push_back(span);
  }

  void set_rank(std::optional<std::int64_t> rank) {
    if (fits(rank)) told_.rank = static_cast<int>(*rank);
  }

  struct Seen {
    Operation operation;
    bool sized;
    std::optional<std::int64_t> id;
  };
  void keep(std::vector<Seen>& seen);
  void move_times();

  Told& told_;
  operations::Skips skips_;
  std::int64_t base_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t unsized_ = 0;
  std::unordered_map<std::int64_t, Fields> by_id_;
  std::vector<Seen> kernels_;
  std::vector<Seen> on_host_;
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

void Reading::finish(bool ended_early) {
  constexpr std::int64_t kMostBase = std::int64_t{1} << 61;  // 2043
  if (base_ns_ < 0 || base_ns_ > kMostBase) base_ns_ = 0;
  keep(kernels_.empty() ? on_host_ : kernels_);
  std::stable_sort(
      told_.operations.begin(), told_.operations.end(),
      [](const Operation& a, const Operation& b) { return *a.start_ns < *b.start_ns; });
  told_.computing = joined(std::move(told_.computing));
  move_times();
  told_.records = told_.operations.size();
  skips_.write_to(told_);
  if (unsized_ > 0) {
    told_.reasons.push_back(std::to_string(unsized_) + " collectives have no size in the trace");
  }
  if (ended_early)
    told_.reasons.emplace_back("the file ends in the middle; what is before was used");
  if (told_.operations.empty()) {
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
