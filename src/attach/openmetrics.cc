// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/openmetrics.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <iterator>

namespace tw::attach {
namespace {

/// Causes that a verdict of `watch` can have: one of them is 1.
constexpr std::array kCauses{"bandwidth", "compute", "late_rank", "loss", "slow_link", "unknown"};

class Text {
 public:
  /// A family's first lines. `unit` is the end of its name, or "".
  void family(std::string_view name, std::string_view type, std::string_view unit,
              std::string_view help) {
    name_ = name;
    is_counter_ = type == "counter";
    fmt::format_to(out(), "# TYPE {} {}\n", name, type);
    if (!unit.empty()) fmt::format_to(out(), "# UNIT {} {}\n", name, unit);
    fmt::format_to(out(), "# HELP {} {}\n", name, help);
  }
  void sample(const std::string& labels, auto value) {
    fmt::format_to(out(), "{}{}{} {}\n", name_, is_counter_ ? "_total" : "", labels, value);
  }
  void line(std::string_view text) { text_ += text; }
  std::string take() && { return std::move(text_); }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string text_;
  std::string name_;
  bool is_counter_ = false;
};

template <typename Value>
struct Family {
  const char* name;
  const char* type;
  const char* unit;
  const char* help;
  Value (*of)(const Way&);
};

void add_ways(const Sums& sums, Text& text) {
  const auto labels = [](const auto& key) {
    return fmt::format("{{local=\"{}\",remote=\"{}\"}}", escaped(key.first), escaped(key.second));
  };
  constexpr std::array<Family<std::uint64_t>, 5> kCounts{
      {{"trainwire_connections", "gauge", "", "Connections of the job between two addresses.",
        [](const Way& way) { return way.connections; }},
       {"trainwire_sent_bytes", "counter", "bytes", "Bytes that the other end has acknowledged.",
        [](const Way& way) { return way.sent_bytes; }},
       {"trainwire_received_bytes", "counter", "bytes", "Bytes received.",
        [](const Way& way) { return way.received_bytes; }},
       {"trainwire_sent_segments", "counter", "", "TCP segments sent.",
        [](const Way& way) { return way.sent_segments; }},
       {"trainwire_retransmitted_segments", "counter", "", "TCP segments sent again.",
        [](const Way& way) { return way.sent_again; }}}};
  constexpr std::array<Family<double>, 5> kTimes{
      {{"trainwire_busy_seconds", "counter", "seconds",
        "Time in which the busiest connection had something to send.",
        [](const Way& way) { return way.busy_s; }},
       {"trainwire_peer_limited_seconds", "counter", "seconds",
        "Busy time in which the peer's window was full: it did not read.",
        [](const Way& way) { return way.peer_limited_s; }},
       {"trainwire_buffer_limited_seconds", "counter", "seconds",
        "Busy time in which the own send buffer was the limit.",
        [](const Way& way) { return way.buffer_limited_s; }},
       {"trainwire_round_trip_seconds", "gauge", "seconds", "Largest smoothed round trip.",
        [](const Way& way) { return way.round_trip_s; }},
       {"trainwire_least_round_trip_seconds", "gauge", "seconds", "Smallest round trip.",
        [](const Way& way) { return way.least_round_trip_s; }}}};
  const auto add = [&](const auto& families) {
    for (const auto& family : families) {
      text.family(family.name, family.type, family.unit, family.help);
      for (const auto& [key, way] : sums.ways) text.sample(labels(key), family.of(way));
    }
  };
  add(kCounts);
  add(kTimes);
}

void add_devices(const Sums& sums, Text& text) {
  const auto add = [&](const char* name, const char* type, const char* unit, const char* help,
                       const std::function<double(const Device&)>& of) {
    text.family(name, type, unit, help);
    for (const auto& [device, facts] : sums.devices) {
      text.sample(fmt::format("{{device=\"{}\"}}", escaped(device)), of(facts));
    }
  };
  add("trainwire_device_sent_bytes", "counter", "bytes",
      "Bytes that a network device or a port of an RDMA card has sent.",
      [](const Device& device) { return static_cast<double>(device.counts.sent); });
  add("trainwire_device_received_bytes", "counter", "bytes", "Bytes that it has received.",
      [](const Device& device) { return static_cast<double>(device.counts.received); });
  add("trainwire_device_dropped_packets", "counter", "", "Packets that it has dropped.",
      [](const Device& device) { return static_cast<double>(device.counts.dropped); });
  add("trainwire_device_errors", "counter", "", "Errors that it has counted.",
      [](const Device& device) { return static_cast<double>(device.counts.errors); });
  add("trainwire_device_peak_sent_bytes_per_second", "gauge", "",
      "Largest rate between two samples of the latest window.",
      [](const Device& device) { return device.peak_sent_bps / 8; });
  text.family("trainwire_rdma_events", "counter", "", "What RDMA cards count of trouble.");
  for (const auto& [name, count] : sums.rdma) {
    const std::size_t blank = name.find(' ');
    text.sample(fmt::format("{{device=\"{}\",counter=\"{}\"}}", escaped(name.substr(0, blank)),
                            escaped(name.substr(blank + 1))),
                count);
  }
}

}  // namespace

std::string escaped(std::string_view value) {
  std::string made;
  for (const char c : value) {
    if (c == '\\' || c == '"') made += '\\';
    if (c == '\n') {
      made += "\\n";
    } else {
      made +=
          static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
    }
  }
  return made;
}

std::string exposition(const Exposed& exposed) {
  Text text;
  text.line("# TYPE trainwire info\n# HELP trainwire What watches, and whom.\n");
  text.line(fmt::format("trainwire_info{{version=\"{}\",pid=\"{}\"}} 1\n", escaped(exposed.version),
                        exposed.process));
  text.family("trainwire_watched_seconds", "counter", "seconds", "How long it has been watched.");
  text.sample("", exposed.sums.seconds);
  text.family("trainwire_verdict", "stateset", "", "What the job waits for, in the latest window.");
  for (const char* cause : kCauses) {
    text.sample(fmt::format("{{trainwire_verdict=\"{}\"}}", cause),
                exposed.verdict.cause == cause ? 1 : 0);
  }
  text.family("trainwire_verdict_confidence_ratio", "gauge", "ratio", "How sure that is, 0 to 1.");
  text.sample("", exposed.verdict.confidence);
  add_ways(exposed.sums, text);
  add_devices(exposed.sums, text);
  text.line("# EOF\n");
  return std::move(text).take();
}

}  // namespace tw::attach
