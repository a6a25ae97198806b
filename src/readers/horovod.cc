// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/horovod.h"

#include "trainwire/base/units.h"
#include "trainwire/readers/json_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace tw::readers {
namespace {

using operations::Operation;
using operations::Told;

constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kMostDepth = 64;

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

struct Open {
  std::string name;
  std::int64_t start_ns;
};

struct Tensor {
  std::vector<Open> open = {};
  std::optional<std::int64_t> negotiated_ns = {};  ///< how long the last negotiation took
  std::optional<operations::Span> moved = {};      ///< of the last exchange
  std::optional<std::int64_t> bytes = {};
  int last_ready = -1;
  std::int64_t last_ready_ns = 0;
  std::int64_t before_last_ns = 0;
};

struct Event {
  std::string_view phase = {};
  std::string_view name = {};
  std::string_view args = {};
  std::int64_t pid = 0;
  std::optional<std::int64_t> time_ns = {};
};

Event event_of(std::string_view text) {
  Event event;
  for (Members each(text); each.next();) {
    if (each.key() == "ph") event.phase = string_of(each.value());
    if (each.key() == "name") event.name = string_of(each.value());
    if (each.key() == "args") event.args = each.value();
    if (each.key() == "pid") event.pid = whole_of(each.value()).value_or(0);
    if (each.key() == "ts") event.time_ns = micros_of(each.value());
  }
  return event;
}

/// "[172, 4096]" and "float32".
std::optional<std::int64_t> bytes_of(std::string_view args) {
  std::optional<int> element;
  std::optional<std::int64_t> elements;
  for (Members each(args); each.next();) {
    if (each.key() == "dtype") element = operations::element_bytes(string_of(each.value()));
    if (each.key() != "shape") continue;
    elements = 1;
    for (Elements sides(string_of(each.value())); sides.next();) {
      const auto side = whole_of(sides.value());
      elements = side && elements ? operations::product(*elements, *side) : std::nullopt;
    }
  }
  if (!element || !elements) return {};
  return operations::product(*elements, *element);
}

/// What moves bytes, inside the top level.
bool is_exchange(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kLibraries{"NCCL_", "MPI_", "GLOO_",
                                                              "CCL_",  "DDL_", "RCCL_"};
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return name.starts_with(library); });
}

class Reading {
 public:
  explicit Reading(Told& told) : told_(told) {}

  void event(std::string_view text) {
    const Event event = event_of(text);
    if (event.phase == "M") return metadata(event);
    if (!event.time_ns) return;
    Tensor& tensor = tensors_[event.pid];
    if (event.phase == "B") begin(tensor, event);
    if (event.phase == "E") end(tensor, event);
    if (event.phase == "X") ready(tensor, event);
  }
  void finish(bool ended_early);

 private:
  void metadata(const Event& event) {
    for (Members each(event.args); each.next();) {
      if (each.key() != "start_time_since_epoch_in_micros") continue;
      base_ns_ = micros_of(each.value());
    }
  }

  void begin(Tensor& tensor, const Event& event) {
    if (tensor.open.size() >= kMostDepth) return skips_.add("activities nested too deep");
    tensor.open.push_back({std::string(event.name), *event.time_ns});
    if (event.name.starts_with("NEGOTIATE_")) tensor.last_ready = -1;
  }

  /// A tick inside NEGOTIATE: the rank whose number it is called is ready.
  void ready(Tensor& tensor, const Event& event) {
    const auto rank = whole_of(event.name);
    if (!rank || *rank < 0 || *rank >= 10'000'000) return;
    tensor.before_last_ns = tensor.last_ready < 0 ? *event.time_ns : tensor.last_ready_ns;
    tensor.last_ready = static_cast<int>(*rank);
    tensor.last_ready_ns = *event.time_ns;
    ranks_ = std::max(ranks_, tensor.last_ready + 1);
  }

  void end(Tensor& tensor, const Event& event) {
    if (tensor.open.empty()) return skips_.add("ends without a begin");
    const Open open = std::move(tensor.open.back());
    tensor.open.pop_back();
    const auto bytes = bytes_of(event.args);
    if (bytes) tensor.bytes = bytes;
    if (open.name.starts_with("NEGOTIATE_")) {
      tensor.negotiated_ns = *event.time_ns - open.start_ns;
      if (tensor.last_ready >= 0) {
        late_s_[tensor.last_ready] += seconds(tensor.last_ready_ns - tensor.before_last_ns);
      }
      return;
    }
    if (is_exchange(open.name)) tensor.moved = operations::Span{open.start_ns, *event.time_ns};
    if (!tensor.open.empty()) return;
    const std::string op = operations::canonical_op(open.name);
    if (op.empty()) return;
    operation(tensor, op, {open.start_ns, *event.time_ns});
  }

  /// Tensors with the same interval were fused.
  void operation(Tensor& tensor, const std::string& op, operations::Span whole) {
    const operations::Span span = tensor.moved.value_or(whole);
    tensor.moved.reset();
    waited_s_ += seconds(tensor.negotiated_ns.value_or(0));
    moved_s_ += seconds(span.end_ns - span.start_ns);
    const auto key = std::tuple(span.start_ns, span.end_ns, op);
    if (made_.size() >= kMostOperations && !made_.contains(key))
      return skips_.add("operations beyond four million");
    auto& bytes = made_[key];
    if (!tensor.bytes) {
      skips_.add("tensors without a size");
    } else {
      bytes = bytes.value_or(0) + std::min(*tensor.bytes, std::int64_t{1} << 40);
    }
  }

  Told& told_;
  operations::Skips skips_;
  std::optional<std::int64_t> base_ns_;
  std::map<std::int64_t, Tensor> tensors_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, std::optional<std::int64_t>> made_;
  std::map<int, double> late_s_;
  double waited_s_ = 0;
  double moved_s_ = 0;
  int ranks_ = 0;
};

void Reading::finish(bool ended_early) {
  told_.rank = 0;
  std::int64_t sequence = 0;
  const std::int64_t base = base_ns_.value_or(0);
  for (const auto& [key, bytes] : made_) {
    const auto& [start, end, op] = key;
    told_.operations.push_back(
        {.rank = 0,
         .group = "horovod",
         .group_size = ranks_,
         .op = op,
         .sequence = sequence++,
         .bytes = bytes,
         .start_ns = base + start,
         .end_ns = base + end,
         .state = operations::State::Completed,
         .clock = base_ns_ ? operations::Clock::Epoch : operations::Clock::Process});
  }
  told_.records = told_.operations.size();
  skips_.write_to(told_);
  if (ended_early)
    told_.reasons.emplace_back("the file ends in the middle; what is before was used");
  if (told_.operations.empty()) told_.reasons.emplace_back("no exchange ends in it");
  const auto latest =
      std::max_element(late_s_.begin(), late_s_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (latest == late_s_.end() || latest->second <= 0) return;
  double all = 0;
  for (const auto& [rank, late] : late_s_) all += late;
  told_.readiness = operations::Readiness{.rank = latest->first,
                                          .late_s = latest->second,
                                          .share = latest->second / all,
                                          .waited_s = waited_s_,
                                          .moved_s = moved_s_};
  told_.notes.push_back(fmt::format(
      "rank {} is the last to be ready, by {} together, {:.0f} % of what all last ones are late; "
      "negotiating takes {}, exchanging {}, summed over tensors",
      latest->first, readable(from_seconds(latest->second)), 100 * latest->second / all,
      readable(from_seconds(waited_s_)), readable(from_seconds(moved_s_))));
}

}  // namespace

void read_horovod(capture::ByteSource& source, Told& told) {
  Reading reading(told);
  Pieces pieces(source, "traceEvents");
  while (pieces.next()) {
    if (pieces.is_element()) reading.event(pieces.value());
  }
  reading.finish(pieces.ended_early());
}

}  // namespace tw::readers
