// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/kind.h"

#include "trainwire/base/nearest.h"
#include "trainwire/keys/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tw::spec {
namespace {

constexpr Bytes kLargestSize = Bytes(std::int64_t{1} << 50);
constexpr BitRate kLowestRate = BitRate(1);
constexpr BitRate kHighestRate = BitRate(1e15);
constexpr Duration kLongestTime = std::chrono::hours(100 * 24);
constexpr double kLeastBdp = 0.001;
constexpr double kMostBdp = 1e6;

template <typename T>
Reading<T> good(T value) {
  return {.value = std::move(value)};
}

std::string shown(const keys::Node& node) {
  if (std::holds_alternative<keys::Absent>(node.value)) return "a date";
  if (std::holds_alternative<keys::List>(node.value)) return "a list";
  if (std::holds_alternative<keys::Table>(node.value)) return "a table";
  if (const auto* text = std::get_if<std::string>(&node.value)) return keys::in_quotes(*text);
  return keys::print(node);
}

/// "5 is not a rate above 0; write for example "1Gbit"".
template <typename T>
Reading<T> bad(const keys::Node& node, std::string_view wanted, std::string_view example) {
  return {.problem =
              fmt::format("{} is not {}; write for example {}", shown(node), wanted, example)};
}

/// Numbers of either TOML kind, if finite.
std::optional<double> real(const keys::Node& node) {
  std::optional<double> value;
  if (const auto* n = std::get_if<std::int64_t>(&node.value)) value = static_cast<double>(*n);
  if (const auto* n = std::get_if<double>(&node.value)) value = *n;
  return value && std::isfinite(*value) ? value : std::nullopt;
}

template <typename T>
Kind<T> whole_kind(T low, T high, std::string_view why) {
  Kind<T> kind{.type = "whole number", .suffix = "", .read = {}, .write = {}};
  kind.read = [low, high, why](const keys::Node& node) -> Reading<T> {
    const auto* n = std::get_if<std::int64_t>(&node.value);
    if (n != nullptr && std::in_range<T>(*n)) {
      const T value = static_cast<T>(*n);
      if (value >= low && value <= high) return good(value);
    }
    const std::string range = fmt::format("a whole number from {} to {}", low, high);
    const std::string reason =
        why.empty() || n == nullptr || *n > 0 ? "" : fmt::format("{}; ", why);
    return {.problem = fmt::format("{}{} is not {}", reason, shown(node), range)};
  };
  kind.write = [](T value) { return keys::Node{.value = static_cast<std::int64_t>(value)}; };
  return kind;
}

/// Lists of one kind; what is wrong with the first bad element is wrong with the list.
template <typename T>
Kind<std::vector<T>> list_of(Kind<T> element, std::string_view example) {
  Kind<std::vector<T>> kind{
      .type = fmt::format("list of {}s", element.type), .suffix = "", .read = {}, .write = {}};
  kind.read = [read = element.read, example](const keys::Node& node) -> Reading<std::vector<T>> {
    const auto* list = std::get_if<keys::List>(&node.value);
    if (list == nullptr || list->empty()) {
      return bad<std::vector<T>>(node, "a list with something in it", example);
    }
    std::vector<T> values;
    values.reserve(list->size());
    for (const keys::Node& item : *list) {
      Reading<T> reading = read(item);
      if (!reading.value) return {.problem = std::move(reading.problem)};
      values.push_back(*std::move(reading.value));
    }
    return good(std::move(values));
  };
  kind.write = [write = element.write](const std::vector<T>& values) {
    keys::List list;
    list.reserve(values.size());
    for (const T& value : values) list.push_back(write(value));
    return keys::Node{.value = std::move(list)};
  };
  return kind;
}

Reading<std::string> known_word(const keys::Node& node, std::string_view noun,
                                std::span<const std::string_view> names) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) return bad<std::string>(node, "text", fmt::format("\"{}\"", names.front()));
  if (std::find(names.begin(), names.end(), *text) != names.end()) return good(*text);
  return {.problem = fmt::format("unknown {} {}; {}", noun, keys::in_quotes(*text),
                                 keys::remedy(*text, names, ""))};
}

/// Linux's, with those that only some kernels have; mltcp is simulated alone.
constexpr std::array<std::string_view, 22> kCongestionControls = {
    "cubic",    "reno",     "dctcp", "bbr",       "bbr1",  "bbr2",     "bbr3", "htcp",
    "vegas",    "westwood", "bic",   "highspeed", "hybla", "illinois", "lp",   "nv",
    "scalable", "veno",     "yeah",  "cdg",       "d2tcp", "mltcp"};

/// The known name that is meant, where a letter or two are wrong. Short names have little to tell
/// a misspelt one by.
std::optional<std::string_view> misspelt(std::string_view name) {
  if (std::find(kCongestionControls.begin(), kCongestionControls.end(), name) !=
      kCongestionControls.end())
    return {};
  std::optional<std::string_view> meant;
  int least = 3;
  for (const std::string_view known : kCongestionControls) {
    const int bearable = known.size() < 3 ? 0 : known.size() < 5 ? 1 : 2;
    const int distance = edit_distance(name, known);
    if (distance > bearable || distance >= least) continue;
    least = distance;
    meant = known;
  }
  return meant;
}

/// Enumerators by name, in the order of the enumeration.
template <typename E, std::size_t N>
Kind<E> choice(std::string_view noun, const std::array<std::string_view, N>& names) {
  const Kind<std::string> spelled = word(noun, names);
  Kind<E> kind{.type = spelled.type, .suffix = "", .read = {}, .write = {}};
  kind.read = [spelled, &names](const keys::Node& node) -> Reading<E> {
    const Reading<std::string> reading = spelled.read(node);
    if (!reading.value) return {.problem = reading.problem};
    const auto at = std::find(names.begin(), names.end(), *reading.value);
    return good(static_cast<E>(at - names.begin()));
  };
  kind.write = [&names](E value) {
    return keys::Node{.value = std::string(names[static_cast<std::size_t>(value)])};
  };
  return kind;
}

Reading<double> read_fraction(const keys::Node& node) {
  std::optional<double> value = real(node);
  if (const auto* text = std::get_if<std::string>(&node.value)) value = parse_fraction(*text);
  if (value && *value >= 0 && *value <= 1) return good(*value);
  return bad<double>(node, "a fraction from 0 to 1", "0.05 or \"5%\"");
}

/// A bare number in place of text with a unit.
template <typename T>
Reading<T> unit_missing(const keys::Node& node, std::string_view example) {
  return {.problem = fmt::format("{} has no unit; write a unit, as in {}", shown(node), example)};
}

/// Text that parse_rate() turns back into the very same rate.
std::string written_rate(BitRate rate) {
  std::string text = exact(rate);
  return parse_rate(text) == rate ? text : fmt::format("{}bit", rate.bits_per_second());
}

std::optional<BitRate> rate_within(const std::string& text, BitRate least) {
  const std::optional<BitRate> rate = parse_rate(text);
  return rate && *rate >= least && *rate <= kHighestRate ? rate : std::nullopt;
}

std::optional<double> parse_bdp(std::string_view text) {
  if (!text.ends_with("bdp")) return {};
  text.remove_suffix(3);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool is_number = error == std::errc() && rest == end && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

keys::Node text_node(std::string text) { return {.value = std::move(text)}; }

}  // namespace

Kind<bool> flag() {
  return {.type = "true or false",
          .suffix = "",
          .read =
              [](const keys::Node& node) {
                const auto* value = std::get_if<bool>(&node.value);
                return value != nullptr ? good(*value) : bad<bool>(node, "true or false", "true");
              },
          .write = [](bool value) { return keys::Node{.value = value}; }};
}

Kind<std::string> text() {
  Kind<std::string> kind = title();
  kind.read = [read = kind.read](const keys::Node& node) {
    Reading<std::string> reading = read(node);
    return reading.value != "" ? reading
                               : bad<std::string>(node, "text with something in it", "\"a\"");
  };
  return kind;
}

Kind<std::string> title() {
  return {.type = "text",
          .suffix = "",
          .read =
              [](const keys::Node& node) {
                const auto* value = std::get_if<std::string>(&node.value);
                return value != nullptr
                           ? good(*value)
                           : bad<std::string>(node, "text",
                                              fmt::format("\"{}\"", keys::print(node)));
              },
          .write = text_node};
}

Kind<std::string> word(std::string_view noun, std::span<const std::string_view> names) {
  return {.type = fmt::format("\"{}\"", fmt::join(names, "\", \"")),
          .suffix = "",
          .read = [noun, names](const keys::Node& node) { return known_word(node, noun, names); },
          .write = text_node};
}

Kind<std::string> kernel_name() {
  Kind<std::string> kind = title();
  kind.read = [](const keys::Node& node) {
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const auto* value = std::get_if<std::string>(&node.value);
    const bool fits = value != nullptr && !value->empty() && value->size() <= 15 &&
                      value->find_first_not_of(kAllowed) == std::string::npos;
    return fits ? good(*value)
                : bad<std::string>(node, "a word of up to 15 lower-case letters, digits and _",
                                   "\"cubic\"");
  };
  return kind;
}

Kind<std::string> congestion_control() {
  Kind<std::string> kind = kernel_name();
  kind.read = [plain = kind.read](const keys::Node& node) {
    Reading<std::string> reading = plain(node);
    if (!reading.value) return reading;
    const auto meant = misspelt(*reading.value);
    if (!meant) return reading;
    return Reading<std::string>{
        .problem = fmt::format("unknown congestion control {}; did you mean \"{}\"?",
                               keys::in_quotes(*reading.value), *meant)};
  };
  return kind;
}

Kind<std::vector<std::string>> texts(std::string_view example) { return list_of(text(), example); }

Kind<int> whole(int low, int high, std::string_view why) { return whole_kind(low, high, why); }

Kind<std::int64_t> long_whole(std::int64_t low, std::int64_t high) {
  return whole_kind(low, high, "");
}

Kind<std::uint64_t> seed() {
  return whole_kind<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max(), "");
}

Kind<std::vector<int>> wholes(int low, int high) { return list_of(whole(low, high), "[784, 10]"); }

Kind<double> number(double low, double high) {
  return {
      .type = "number",
      .suffix = "",
      .read = [low, high](const keys::Node& node) -> Reading<double> {
        const std::optional<double> value = real(node);
        if (value && *value >= low && *value <= high) return good(*value);
        return {.problem = fmt::format("{} is not a number from {} to {}", shown(node), low, high)};
      },
      .write = [](double value) { return keys::Node{.value = value}; }};
}

Kind<double> fraction() {
  return {.type = "fraction or percentage",
          .suffix = "",
          .read = read_fraction,
          .write = [](double value) { return keys::Node{.value = value}; }};
}

Kind<double> probability() {
  Kind<double> kind = fraction();
  kind.read = [](const keys::Node& node) {
    const Reading<double> reading = read_fraction(node);
    return reading.value && *reading.value < 1
               ? reading
               : bad<double>(node, "a fraction from 0 to below 1", "0.001 or \"0.1%\"");
  };
  return kind;
}

Kind<Bytes> size(Bytes least) {
  Kind<Bytes> kind{.type = "size", .suffix = "_bytes", .read = {}, .write = {}};
  kind.read = [least](const keys::Node& node) {
    std::optional<Bytes> value;
    if (const auto* n = std::get_if<std::int64_t>(&node.value)) value = Bytes(*n);
    if (const auto* text = std::get_if<std::string>(&node.value)) value = parse_bytes(*text);
    if (value && *value >= least && *value <= kLargestSize) return good(*value);
    return bad<Bytes>(node, fmt::format("a size from {} to 1024TiB", exact(least)), "\"64MiB\"");
  };
  kind.write = [](Bytes value) { return text_node(exact(value)); };
  kind.measure = [](Bytes value) { return keys::Node{.value = value.count()}; };
  return kind;
}

Kind<BitRate> rate() {
  Kind<BitRate> kind{.type = "rate", .suffix = "_bps", .read = {}, .write = {}};
  kind.read = [](const keys::Node& node) {
    if (real(node)) return unit_missing<BitRate>(node, "\"1Gbit\"");
    const auto* text = std::get_if<std::string>(&node.value);
    const auto value = text != nullptr ? rate_within(*text, kLowestRate) : std::nullopt;
    return value ? good(*value) : bad<BitRate>(node, "a rate above 0", "\"1Gbit\"");
  };
  kind.write = [](BitRate value) { return text_node(written_rate(value)); };
  kind.measure = [](BitRate value) { return keys::Node{.value = value.bits_per_second()}; };
  return kind;
}

Kind<Duration> time(Duration least) {
  Kind<Duration> kind{.type = "time", .suffix = "_ns", .read = {}, .write = {}};
  kind.read = [least](const keys::Node& node) {
    const std::optional<double> bare = real(node);
    if (bare && *bare != 0) return unit_missing<Duration>(node, "\"50us\"");
    std::optional<Duration> value;
    if (bare) value = Duration(0);
    if (const auto* text = std::get_if<std::string>(&node.value)) value = parse_duration(*text);
    if (value && *value >= least && *value <= kLongestTime) return good(*value);
    return bad<Duration>(node, fmt::format("a time from {} to 2400h", exact(least)), "\"50us\"");
  };
  kind.write = [](Duration value) { return text_node(exact(value)); };
  kind.measure = [](Duration value) { return keys::Node{.value = std::int64_t{value.count()}}; };
  return kind;
}

/// "max(1bdp, 256KiB)": the larger of both.
std::optional<Queue> parse_larger(std::string_view text) {
  constexpr std::string_view kBegin = "max(";
  if (!text.starts_with(kBegin) || !text.ends_with(")")) return {};
  text.remove_prefix(kBegin.size());
  text.remove_suffix(1);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return {};
  const auto bdp = parse_bdp(std::string(text.substr(0, comma)));
  std::string_view second = text.substr(comma + 1);
  while (second.starts_with(' ')) second.remove_prefix(1);
  const Reading<Bytes> bytes = size(Bytes(1)).read(text_node(std::string(second)));
  if (!bdp || *bdp < kLeastBdp || *bdp > kMostBdp || !bytes.value) return {};
  return Queue{.bdp = bdp, .bytes = bytes.value};
}

Kind<Queue> queue() {
  Kind<Queue> kind{.type = "size or multiple of the bdp", .suffix = "", .read = {}, .write = {}};
  kind.read = [](const keys::Node& node) {
    const auto* text = std::get_if<std::string>(&node.value);
    if (const auto larger = text != nullptr ? parse_larger(*text) : std::nullopt) {
      return good(*larger);
    }
    if (const auto bdp = text != nullptr ? parse_bdp(*text) : std::nullopt) {
      if (*bdp >= kLeastBdp && *bdp <= kMostBdp) return good(Queue{.bdp = bdp});
    }
    if (const Reading<Bytes> bytes = size(Bytes(1)).read(node); bytes.value) {
      return good(Queue{.bytes = bytes.value});
    }
    return bad<Queue>(node, "a queue size", "\"1bdp\" or \"256KiB\"");
  };
  kind.write = [](const Queue& value) {
    if (value.bdp && value.bytes) {
      return text_node(fmt::format("max({}bdp, {})", *value.bdp, exact(*value.bytes)));
    }
    if (value.bdp) return text_node(fmt::format("{}bdp", *value.bdp));
    return value.bytes ? text_node(exact(*value.bytes)) : keys::Node{};
  };
  kind.measure = [](const Queue& value) {
    keys::Table table;
    if (value.bdp) table.push_back({"bdp", {.value = *value.bdp}});
    if (value.bytes) table.push_back({"bytes", {.value = value.bytes->count()}});
    return keys::Node{.value = std::move(table)};
  };
  return kind;
}

Kind<Load> load() {
  Kind<Load> kind{.type = "fraction, percentage or rate", .suffix = "", .read = {}, .write = {}};
  kind.read = [](const keys::Node& node) -> Reading<Load> {
    const auto* text = std::get_if<std::string>(&node.value);
    if (text != nullptr) {
      if (const auto rate = rate_within(*text, BitRate(0));
          rate && (*rate >= kLowestRate || *rate == BitRate(0)))
        return good(Load{.rate = rate});
    }
    if (const Reading<double> share = read_fraction(node); share.value) {
      return good(Load{.share = share.value});
    }
    if (const auto share = real(node); share && *share > 1) {
      return {.problem =
                  fmt::format("{} is a load above the bottleneck; write at most 1, or a rate "
                              "as in \"800Mbit\"",
                              shown(node))};
    }
    return bad<Load>(node, "a load", "0.8, \"80%\" or \"800Mbit\"");
  };
  kind.write = [](const Load& value) {
    if (value.share) return keys::Node{.value = *value.share};
    return value.rate ? text_node(written_rate(*value.rate)) : keys::Node{};
  };
  kind.measure = [](const Load& value) {
    if (value.share) return keys::Node{.value = keys::Table{{"share", {.value = *value.share}}}};
    if (!value.rate) return keys::Node{};
    return keys::Node{.value = keys::Table{{"rate_bps", {.value = value.rate->bits_per_second()}}}};
  };
  return kind;
}

Kind<Verify> verify() {
  Kind<Verify> kind{.type = "true, false or \"auto\"", .suffix = "", .read = {}, .write = {}};
  kind.read = [](const keys::Node& node) {
    if (const auto* on = std::get_if<bool>(&node.value))
      return good(*on ? Verify::On : Verify::Off);
    const auto* text = std::get_if<std::string>(&node.value);
    return text != nullptr && *text == "auto"
               ? good(Verify::Auto)
               : bad<Verify>(node, "true, false or \"auto\"", "true");
  };
  kind.write = [](Verify value) {
    return value == Verify::Auto ? text_node("auto") : keys::Node{.value = value == Verify::On};
  };
  return kind;
}

Kind<Topology> topology() {
  static constexpr std::array<std::string_view, 4> kNames{"star", "dumbbell", "leafspine",
                                                          "fattree"};
  return choice<Topology>("topology", kNames);
}

Kind<Engine> engine() {
  static constexpr std::array<std::string_view, 4> kNames{"auto", "netem", "nfqueue", "tap"};
  return choice<Engine>("engine", kNames);
}

Kind<Compute> compute() {
  static constexpr std::array<std::string_view, 4> kNames{"profile", "torch", "none", "train"};
  return choice<Compute>("way to compute", kNames);
}

Kind<Gradient> gradient() {
  static constexpr std::array<std::string_view, 3> kNames{"fp32", "fp16", "topk"};
  return choice<Gradient>("form of gradients", kNames);
}

Kind<TrafficKind> traffic_kind() {
  static constexpr std::array<std::string_view, 5> kNames{"long", "websearch", "burst", "file",
                                                          "constant"};
  return choice<TrafficKind>("kind of traffic", kNames);
}

Kind<FaultKind> fault_kind() {
  static constexpr std::array<std::string_view, 6> kNames{"kill",      "stop", "link-down",
                                                          "link-flap", "slow", "loss"};
  return choice<FaultKind>("kind of fault", kNames);
}

Kind<OnFailure> on_failure() {
  static constexpr std::array<std::string_view, 4> kNames{"abort", "restart", "shrink", "grow"};
  return choice<OnFailure>("answer to a lost rank", kNames);
}

Kind<LossUnit> loss_unit() {
  static constexpr std::array<std::string_view, 2> kNames{"segment", "train"};
  return choice<LossUnit>("unit of loss", kNames);
}

Kind<EarlyAction> early_action() {
  static constexpr std::array<std::string_view, 2> kNames{"mark", "drop"};
  return choice<EarlyAction>("action", kNames);
}

Kind<Paths> paths() {
  static constexpr std::array<std::string_view, 3> kNames{"destination", "flow", "packet"};
  return choice<Paths>("way to pick paths", kNames);
}

Kind<RdmaRepair> rdma_repair() {
  static constexpr std::array<std::string_view, 2> kNames{"selective", "go_back"};
  return choice<RdmaRepair>("repair", kNames);
}

Kind<RdmaControl> rdma_control() {
  static constexpr std::array<std::string_view, 3> kNames{"dcqcn", "dcqcn_paper", "none"};
  return choice<RdmaControl>("control of rates", kNames);
}

Kind<Aggregation> aggregation() {
  static constexpr std::array<std::string_view, 2> kNames{"host", "switch"};
  return choice<Aggregation>("place of aggregation", kNames);
}

Kind<Distribution> distribution() {
  static constexpr std::array<std::string_view, 2> kNames{"unicast", "multicast"};
  return choice<Distribution>("way of distribution", kNames);
}

Kind<std::optional<Direction>> direction() {
  static constexpr std::array<std::string_view, 3> kNames{"from_host", "to_host", "both"};
  enum class Spelled { FromHost, ToHost, Both };
  const Kind<Spelled> spelled = choice<Spelled>("direction", kNames);
  Kind<std::optional<Direction>> kind{.type = spelled.type, .suffix = "", .read = {}, .write = {}};
  kind.read = [spelled](const keys::Node& node) -> Reading<std::optional<Direction>> {
    const Reading<Spelled> reading = spelled.read(node);
    if (!reading.value) return {.problem = reading.problem};
    if (*reading.value == Spelled::Both) return good(std::optional<Direction>());
    return good(std::optional(static_cast<Direction>(*reading.value)));
  };
  kind.write = [spelled](const std::optional<Direction>& value) {
    return spelled.write(value ? static_cast<Spelled>(*value) : Spelled::Both);
  };
  return kind;
}

}  // namespace tw::spec
