// SPDX-License-Identifier: Apache-2.0
// "[  5]   0.00-1.00   sec   794 MBytes  6.65 Gbits/sec   25   1023 KBytes", with "[SUM]" of several streams; and -J. Sizes
// come from rates, for transfers are printed in binary units with three digits, as rates are in decimal ones.
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/result/json_text.h"
#include "trainwire/tables/columns.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <string>

namespace tw::tables {
namespace {

constexpr std::size_t kMostNotes = 64;

struct Interval {
  double start_s;
  double end_s;
  double rate_bps;
  std::optional<double> behind = {};  ///< the number behind the rate: what it is, the header says
  bool is_iperf2 = false;
};

/// What became of what was sent, where iperf3 tells.
struct Losses {
  std::optional<double> sent_again = {};  ///< TCP's segments
  std::optional<double> lost = {};        ///< UDP's datagrams
  double datagrams = 0;
};

void add(Benchmark& into, const Interval& each) {
  const double time_s = each.end_s - each.start_s;
  const double bytes = each.rate_bps * time_s / 8;
  if (!(bytes < 1e18) || into.rows() >= kMostRows) return;
  if (!can_be_meant(std::llround(bytes), time_s)) {
    ++into.skipped;
    if (bytes >= 0 && bytes < 1 && time_s > 0 && time_s < 1e9) into.idle_s += time_s;
    return;
  }
  into.curves.back().rows.push_back({std::llround(bytes), time_s});
}

void add_note(Benchmark& into, std::string_view way, double rate_bps, const std::string& over,
              const Losses& losses, std::string_view program = "iperf3") {
  if (into.notes.size() >= kMostNotes) return;
  std::string text =
      fmt::format("{} moved {}{} over {}", program, readable(BitRate(rate_bps)), way, over);
  if (losses.sent_again)
    text += fmt::format("; {:.0f} segments were sent again", *losses.sent_again);
  if (losses.lost)
    text += fmt::format("; {:.0f} of {:.0f} datagrams were lost", *losses.lost, losses.datagrams);
  into.notes.push_back(std::move(text));
}

std::string intervals_text(std::size_t count) {
  return fmt::format("{} interval{}", count, count == 1 ? "" : "s");
}

double unit_of(std::string_view word) {
  if (word == "bits/sec") return 1;
  if (word == "Kbits/sec") return 1e3;
  if (word == "Mbits/sec") return 1e6;
  if (word == "Gbits/sec") return 1e9;
  return word == "Tbits/sec" ? 1e12 : 0;
}

/// "0.0-30.0", since 2.0.14 "0.0000-30.0012": iperf3 prints two decimals.
bool is_of_iperf2(std::string_view range) {
  const std::size_t point = range.find('.');
  const std::size_t dash = range.find('-');
  if (point == std::string_view::npos || dash == std::string_view::npos || point > dash)
    return false;
  return dash - point == 2 || dash - point == 5;
}

/// Nothing for a line that tells no interval. "0.00-10.00sec" is how some write it by hand.
std::optional<Interval> interval_in(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 4 < words.size(); ++i) {
    if (!words[i].ends_with("sec")) continue;
    std::string_view range = words[i].substr(0, words[i].size() - 3);
    if (range.empty() && i > 0) range = words[i - 1];
    const std::size_t dash = range.find('-', 1);
    if (dash == std::string_view::npos) return {};
    const auto start = number_in(range.substr(0, dash));
    const auto end = number_in(range.substr(dash + 1));
    const auto rate = number_in(words[i + 3]);
    const double unit = unit_of(words[i + 4]);
    if (!start || !end || !rate || unit == 0) return {};
    const auto behind = i + 5 < words.size() ? count_in(words[i + 5]) : std::nullopt;
    Interval made{*start, *end, *rate * unit};
    if (behind) made.behind = static_cast<double>(*behind);
    made.is_iperf2 = is_of_iperf2(range);
    return made;
  }
  return {};
}

/// "12/906 (1.3%)": lost and all.
Losses lost_in(const std::vector<std::string_view>& words) {
  Losses losses;
  for (const std::string_view word : words) {
    const std::size_t slash = word.find('/');
    if (slash == std::string_view::npos) continue;
    const auto lost = count_in(word.substr(0, slash));
    const auto all = count_in(word.substr(slash + 1));
    if (!lost || !all) continue;
    losses.lost = static_cast<double>(*lost);
    losses.datagrams = static_cast<double>(*all);
  }
  return losses;
}

/// What one direction came to: with --bidir there are two, "[  5][TX-C]" and "[  7][RX-C]", and with titles those of each.
struct Direction {
  double rate_bps = 0;
  double until_s = 0;
  Losses losses = {};
  std::optional<Interval> whole = {};  ///< of the lines at its end
  bool has_sender = false;             ///< of these, who says to be of whom
  bool has_receiver = false;
  std::size_t intervals = 0;
  bool is_iperf2 = false;
  double bits = 0;    ///< of the intervals
  double time_s = 0;  ///< of the intervals
};
using Directions = std::map<std::pair<std::string, std::string>, Direction>;  ///< by title and role
constexpr std::size_t kMostDirections = 64;

/// "TX-C" of "[  5][TX-C]   0.00-1.00"; "" where there is one direction.
std::string_view role_in(std::string_view line) {
  const std::size_t open = line.find("][");
  const std::size_t close = open == std::string_view::npos ? open : line.find(']', open + 2);
  return close == std::string_view::npos ? "" : line.substr(open + 2, close - open - 2);
}

/// "s1" of "s1:  [  4]   0.00-1.00", as -T has it before each line; "" where there is none.
std::string_view title_in(std::string_view line) {
  std::string_view before = line.substr(0, line.find('['));
  before = before.substr(0, before.find_last_not_of(" \t") + 1);
  if (!before.ends_with(':') || before.size() > 32) return "";
  before.remove_suffix(1);
  before.remove_prefix(std::min(before.find_first_not_of(" \t"), before.size()));
  return before;
}

std::string way_of(std::string_view role) {
  if (role.starts_with("TX")) return " one way";
  return role.starts_with("RX") ? " the other way" : "";
}

/// The lines at the end: of the receiver is the rate, of the sender what was sent again.
void take_end(std::string_view line, const std::vector<std::string_view>& words,
              const Interval& interval, Direction& of) {
  const bool is_receiver = line.find("receiver") != std::string_view::npos;
  if (is_receiver || of.rate_bps == 0) {
    of.rate_bps = interval.rate_bps;
    of.whole = interval;
  }
  of.has_receiver |= is_receiver;
  of.has_sender |= line.find("sender") != std::string_view::npos;
  if (!is_receiver && interval.behind) of.losses.sent_again = interval.behind;
  if (const Losses all = lost_in(words); all.lost) {
    of.losses.lost = all.lost;
    of.losses.datagrams = all.datagrams;
  }
}

void take_interval(const std::vector<std::string_view>& words, const Interval& interval,
                   Direction& of) {
  ++of.intervals;
  of.until_s = interval.end_s;
  of.time_s += interval.end_s - interval.start_s;
  of.bits += interval.rate_bps * (interval.end_s - interval.start_s);
  if (const Losses more = lost_in(words); more.lost) {
    of.losses.lost = of.losses.lost.value_or(0) + *more.lost;
    of.losses.datagrams += more.datagrams;
  }
}

/// Of a direction of which only the end is shown, the end is what there is.
void end_run(Benchmark& into, Directions& directions) {
  for (const auto& [name, each] : directions) {
    const auto& [title, role] = name;
    const bool has_end = each.rate_bps > 0;
    if (!has_end && each.time_s <= 0) continue;
    if (each.intervals == 0) add(into, *each.whole);
    const double whole_s = each.whole ? each.whole->end_s - each.whole->start_s : 0;
    const std::string of_title = title.empty() ? "" : " of " + printable(title);
    add_note(into, way_of(role) + of_title, has_end ? each.rate_bps : each.bits / each.time_s,
             each.intervals > 0 ? intervals_text(each.intervals) : fmt::format("{:.4g} s", whole_s),
             each.losses, each.is_iperf2 ? "iperf 2" : "iperf3");
  }
  directions.clear();
  if (!into.curves.back().rows.empty()) into.curves.push_back({.op = "send", .ranks = 2});
}

bool says_whose(std::string_view line) {
  return line.find("sender") != std::string_view::npos ||
         line.find("receiver") != std::string_view::npos;
}

/// Whether a sum is of another run than those before: the one before has such an end, or, where the sum goes back in time,
/// went at another rate, or is told by one line that lasts too long to be an interval.
bool begins_anew(std::string_view line, const Direction& of, const Interval& interval) {
  constexpr double kAlike = 0.1;
  constexpr double kLongInterval_s = 2;
  if (line.find("sender") != std::string_view::npos) return of.has_sender;
  if (line.find("receiver") != std::string_view::npos) return of.has_receiver;
  if (of.until_s <= 0 || interval.start_s >= of.until_s - 0.01) return false;
  if (of.whole && !of.has_sender && !of.has_receiver) return true;
  if (of.time_s <= 0) return false;
  const double mean_bps = of.bits / of.time_s;
  if (of.intervals == 1 && of.time_s > kLongInterval_s) return interval.rate_bps != mean_bps;
  return std::abs(interval.rate_bps - mean_bps) > kAlike * mean_bps ||
         std::abs(interval.end_s - of.until_s) > kAlike * of.until_s;
}

/// One run's lines.
void read_run(std::string_view text, Benchmark& into) {
  const bool has_sums = text.find("[SUM]") != std::string_view::npos;
  bool has_retries = false;
  Directions directions;
  for_lines(text, [&](std::string_view line) {
    constexpr std::string_view kError = "iperf3: error - ";
    if (line.starts_with(kError)) into.error = printable(line.substr(kError.size(), 200));
    if (line.find("Interval") != std::string_view::npos)
      has_retries = line.find("Retr") != std::string_view::npos;
    const std::size_t bracket = line.find('[');
    if (bracket == std::string_view::npos || line.find("omitted") != std::string_view::npos) return;
    const auto words = words_of(line);
    const auto interval = interval_in(words);
    if (!interval || (has_sums && line.find("[SUM]") == std::string_view::npos)) return;
    const std::pair name(std::string(title_in(line)), std::string(role_in(line).substr(0, 8)));
    if (directions.size() >= kMostDirections && !directions.contains(name)) return;
    // Sums that were filtered out of a log have no lines between that tell runs apart.
    if (has_sums && begins_anew(line, directions[name], *interval)) end_run(into, directions);
    Direction& direction = directions[name];
    direction.is_iperf2 = interval->is_iperf2;
    const bool is_summary =
        interval->start_s < direction.until_s - 0.01;  // old ones of UDP do not say whose it is
    if (is_summary || says_whose(line)) {
      return take_end(line, words, *interval, direction);
    }
    if (has_retries && interval->behind)
      direction.losses.sent_again = direction.losses.sent_again.value_or(0) + *interval->behind;
    take_interval(words, *interval, direction);
    add(into, *interval);
  });
  end_run(into, directions);
}

/// What a run's lines begin with: its command, or what the two sides say when they meet.
void read_lines(std::string_view text, Benchmark& into) {
  std::size_t begin = 0;
  for_lines(text, [&](std::string_view line) {
    const bool begins = line.find("Connecting to host ") != std::string_view::npos ||
                        line.find("Accepted connection from ") != std::string_view::npos ||
                        line.find("Client connecting to ") != std::string_view::npos ||
                        line.find("iperf3 -c ") != std::string_view::npos;
    if (!begins) return;
    const auto at = static_cast<std::size_t>(line.data() - text.data());
    read_run(text.substr(begin, at - begin), into);
    begin = at;
  });
  read_run(text.substr(begin), into);
}

double number(const nlohmann::ordered_json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// Of --json-stream, a line an event, as the one document that -J writes.
nlohmann::ordered_json of_events(std::string_view text) {
  nlohmann::ordered_json made = {{"intervals", nlohmann::ordered_json::array()}};
  for_lines(text, [&](std::string_view line) {
    const auto event = result::parse_json(line);
    if (!event.is_object() || !event.contains("event") || !event.contains("data")) return;
    if (event["event"] == "interval" && made["intervals"].size() < kMostRows)
      made["intervals"].push_back(event["data"]);
    if (event["event"] == "end") made["end"] = event["data"];
    if (event["event"] == "error" && event["data"].is_string()) made["error"] = event["data"];
  });
  return made;
}

void read_json(std::string_view text, Benchmark& into) {
  const auto whole = result::parse_json(text);
  const auto document = whole.is_object() ? whole : of_events(text);
  if (!whole.is_object() && document["intervals"].empty())
    into.error = "it is not one result of -J, but several or a part of one; give each alone";
  if (!document.is_object() || !document.contains("intervals")) return;
  if (document.contains("error") && document["error"].is_string())
    into.error = printable(document["error"].get<std::string>().substr(0, 200));
  for (const auto& each : document["intervals"]) {
    for (const char* key : {"sum", "sum_bidir_reverse"}) {
      if (!each.is_object() || !each.contains(key)) continue;
      const auto& sum = each[key];
      if (sum.is_object() && sum.contains("omitted") && sum["omitted"] == true) continue;
      add(into, {number(sum, "start"), number(sum, "end"), number(sum, "bits_per_second")});
    }
  }
  if (!document.contains("end") || into.rows() == 0) return;
  const auto& end = document["end"];
  if (!end.is_object()) return;
  const auto part = [&](const char* key) {
    return end.contains(key) ? end[key] : nlohmann::ordered_json();
  };
  const auto sent = part("sum_sent");
  const auto sum = part("sum");  // of UDP
  const auto received = part("sum_received");
  Losses losses;
  if (sent.is_object() && sent.contains("retransmits"))
    losses.sent_again = number(sent, "retransmits");
  if (sum.is_object() && sum.contains("lost_packets")) {
    losses.lost = number(sum, "lost_packets");
    losses.datagrams = number(sum, "packets");
  }
  const double rate_bps = number(received.is_object() ? received : sum, "bits_per_second");
  const auto back = part("sum_received_bidir_reverse");
  const double back_bps = number(back, "bits_per_second");
  const std::string over = intervals_text(into.rows());
  if (rate_bps > 0) add_note(into, back_bps > 0 ? way_of("TX") : "", rate_bps, over, losses);
  if (back_bps > 0) add_note(into, way_of("RX"), back_bps, over, {});
}

}  // namespace

bool has_iperf_intervals(std::string_view text) {
  bool found = false;
  for_lines(text, [&](std::string_view line) {
    if (found || line.find("bits/sec") == std::string_view::npos) return;
    const std::size_t bracket = line.find(']');
    if (bracket == std::string_view::npos) return;
    found = interval_in(words_of(line.substr(bracket + 1))).has_value();
  });
  return found;
}

Benchmark parse_iperf(std::string_view text) {
  Benchmark made{.program = "iperf3", .curves = {{.op = "send", .ranks = 2}}};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    read_json(text, made);
  } else {
    read_lines(text, made);
  }
  if (!made.error.empty()) made.limits.push_back("iperf3 ended with an error: " + made.error);
  made.limits.emplace_back(
      "iperf3 tells what a stream carries, interval by interval, not what a message of a size "
      "takes");
  return made;
}

}  // namespace tw::tables
