// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/operation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tw::operations {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Letters of the part behind the last colon, in lower case.
std::string letters_of(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  std::string letters;
  for (const char c : name) {
    const char small = lower(c);
    if (small >= 'a' && small <= 'z') letters += small;
  }
  return letters;
}

/// By how names begin; longer ones first where one begins like another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kBeginnings = {{
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"alltoallv", "all_to_all"},
    {"broadcast", "broadcast"},
    {"bcast", "broadcast"},
    {"reduce", "reduce"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"barrier", "barrier"},
    {"sendrecv", "sendrecv"},
    {"send", "send"},
    {"recv", "recv"},
    {"irecv", "recv"},
    {"isend", "send"},
}};

}  // namespace

std::string_view name_of(Clock clock) {
  static constexpr std::array<std::string_view, 3> kNames{"epoch", "process", "alone"};
  return kNames[static_cast<std::size_t>(clock)];
}

std::string_view name_of(State state) {
  static constexpr std::array<std::string_view, 4> kNames{"", "scheduled", "started", "completed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string canonical_op(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const auto& [beginning, op] : kBeginnings) {
    if (letters.starts_with(beginning)) return std::string(op);
  }
  return {};
}

bool is_message(std::string_view op) { return op == "send" || op == "recv" || op == "sendrecv"; }

bool is_timed(const Operation& each) {
  return each.rank && each.start_ns && each.end_ns && each.clock != Clock::Alone &&
         *each.end_ns >= *each.start_ns;
}

bool waits_for_all(std::string_view op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" || op == "all_to_all" ||
         op == "barrier";
}

double bus_factor(std::string_view op, int ranks) {
  if (ranks < 1) return 1;
  const double n = ranks;
  if (op == "all_reduce") return 2 * (n - 1) / n;
  if (op == "all_gather" || op == "reduce_scatter" || op == "all_to_all" || op == "gather" ||
      op == "scatter") {
    return (n - 1) / n;
  }
  return 1;
}

std::optional<int> element_bytes(std::string_view dtype) {
  std::string name;
  const std::size_t colon = dtype.rfind(':');
  for (const char c : colon == std::string_view::npos ? dtype : dtype.substr(colon + 1)) {
    if (c != ' ') name += lower(c);
  }
  if (name.starts_with("nccl")) name.erase(0, 4);
  static constexpr std::array<std::pair<std::string_view, int>, 41> kTypes = {{
      {"float", 4},        {"float32", 4},       {"f32", 4},         {"double", 8}, {"float64", 8},
      {"f64", 8},          {"half", 2},          {"float16", 2},     {"f16", 2},    {"bfloat16", 2},
      {"bf16", 2},         {"long", 8},          {"longint", 8},     {"int64", 8},  {"uint64", 8},
      {"i64", 8},          {"u64", 8},           {"int", 4},         {"int32", 4},  {"uint32", 4},
      {"i32", 4},          {"u32", 4},           {"short", 2},       {"int16", 2},  {"uint16", 2},
      {"char", 1},         {"signedchar", 1},    {"int8", 1},        {"uint8", 1},  {"byte", 1},
      {"unsignedchar", 1}, {"bool", 1},          {"i8", 1},          {"u8", 1},     {"fp8_e4m3", 1},
      {"fp8_e5m2", 1},     {"float8_e4m3fn", 1}, {"float8_e5m2", 1}, {"f8e4m3", 1}, {"f8e5m2", 1},
      {"complexfloat", 8},
  }};
  for (const auto& [type, bytes] : kTypes) {
    if (type == name) return bytes;
  }
  return {};
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return {};
  if (b != 0 && a > kMost / b) return {};
  return a * b;
}

std::optional<std::int64_t> message_elements(std::string_view op, std::int64_t in, std::int64_t out,
                                             int ranks) {
  if (in < 0 || out < 0 || ranks < 0) return {};
  const bool small_in = op == "all_gather" || op == "gather";
  const bool small_out = op == "reduce_scatter" || op == "scatter";
  const std::int64_t large = small_in ? out : in;
  if (large > 0) return large <= kMost ? std::optional(large) : std::nullopt;
  if (small_in) return product(in, ranks);
  if (small_out) return product(out, ranks);
  return std::max(in, out) <= kMost ? std::optional(std::max(in, out)) : std::nullopt;
}

}  // namespace tw::operations
