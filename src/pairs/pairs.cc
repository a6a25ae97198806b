// SPDX-License-Identifier: Apache-2.0
#include "trainwire/pairs/pairs.h"

#include "trainwire/base/units.h"
#include "trainwire/pairs/suspects.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace tw::pairs {
namespace {

constexpr std::size_t kMostColumns = 16;
constexpr std::size_t kMostPairs = 10;
constexpr std::size_t kMostFindings = 15;

std::string rate_text(double bps) { return readable(BitRate(std::round(bps))); }

/// One thing that is measured: how bad it is, and back.
struct Kind {
  const char* what;
  std::function<double(const Figure&)> badness;
  std::function<double(double)> value;
  double least_spread;
  double least_difference;
  bool both_ways;  ///< the same in both directions
};

std::vector<Kind> kinds() {
  return {
      {.what = "rate",
       .badness = [](const Figure& f) { return -std::log(f.rate_bps); },
       .value = [](double x) { return std::exp(-x); },
       .least_spread = 0.03,
       .least_difference = std::log(1 / 0.9),
       .both_ways = false},
      {.what = "round trip",
       .badness = [](const Figure& f) { return std::log(f.round_trip_s); },
       .value = [](double x) { return std::exp(x); },
       .least_spread = 0.1,
       .least_difference = std::log(1.5),
       .both_ways = true},
      // The root of a count of rare events has a deviation of one half whatever its mean.
      {.what = "retransmissions",
       .badness = [](const Figure& f) { return std::sqrt(static_cast<double>(f.retransmitted)); },
       .value = [](double x) { return x * x; },
       .least_spread = 1,
       .least_difference = 3,
       .both_ways = false}};
}

std::string text_of(const Finding& f, const std::vector<std::string>& hosts, bool both_ways) {
  const auto name = [&](int host) { return hosts[static_cast<std::size_t>(host)]; };
  const bool is_pair = f.from && f.to;
  const std::string who = is_pair     ? fmt::format("from {} to {}", name(*f.from), name(*f.to))
                          : both_ways ? name(f.from ? *f.from : *f.to)
                          : f.from    ? fmt::format("what {} sends", name(*f.from))
                                      : fmt::format("what {} receives", name(*f.to));
  const char* const look = is_pair ? "both are fine with others: look at the way between them"
                                   : "with everybody: look at its cable, port and card";
  if (f.what == "rate") {
    return fmt::format("{} is slow: {}, elsewhere {}; {}", who, rate_text(f.value),
                       rate_text(f.usual), look);
  }
  if (f.what == "round trip") {
    return fmt::format("{} is far: {} there and back, elsewhere {}; {}", who,
                       readable(from_seconds(f.value)), readable(from_seconds(f.usual)), look);
  }
  return fmt::format("{} is sent again: {:.0f} packets of a pair, elsewhere {:.0f}; {}", who,
                     f.value, f.usual, look);
}

std::string matrix(const std::vector<std::string>& hosts, const std::vector<Figure>& figures) {
  std::size_t width = 9;
  for (const std::string& host : hosts) width = std::max(width, host.size() + 1);
  std::string text = fmt::format("Mbit/s, from rows to columns\n{:>{}}", "", width);
  for (const std::string& host : hosts) text += fmt::format("{:>{}}", host, width);
  text += '\n';
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    text += fmt::format("{:>{}}", hosts[from], width);
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      const auto at = std::ranges::find_if(figures, [&](const Figure& f) {
        return f.from == static_cast<int>(from) && f.to == static_cast<int>(to);
      });
      text += at == figures.end() ? fmt::format("{:>{}}", "-", width)
                                  : fmt::format("{:>{}.5g}", 1e-6 * at->rate_bps, width);
    }
    text += '\n';
  }
  return text;
}

std::string slowest(const std::vector<std::string>& hosts, std::vector<Figure> figures) {
  std::ranges::sort(figures, {}, &Figure::rate_bps);
  figures.resize(std::min(figures.size(), kMostPairs));
  std::string text = "the slowest pairs\n";
  for (const Figure& f : figures) {
    text +=
        fmt::format("  {} to {}: {}, {} there and back, {} packets sent again\n",
                    hosts[static_cast<std::size_t>(f.from)], hosts[static_cast<std::size_t>(f.to)],
                    rate_text(f.rate_bps), readable(from_seconds(f.round_trip_s)), f.retransmitted);
  }
  return text;
}

}  // namespace

std::vector<Figure> combined(const std::vector<Figure>& looks) {
  std::map<std::pair<int, int>, Figure> by_pair;
  std::map<std::pair<int, int>, std::vector<double>> rates;
  for (const Figure& look : looks) {
    const std::pair way(look.from, look.to);
    Figure& figure = by_pair[way];
    figure.from = look.from;
    figure.to = look.to;
    figure.retransmitted += look.retransmitted;
    if (look.rate_bps > 0) rates[way].push_back(look.rate_bps);
    const bool shorter = figure.round_trip_s == 0 || look.round_trip_s < figure.round_trip_s;
    if (look.round_trip_s > 0 && shorter) figure.round_trip_s = look.round_trip_s;
  }
  std::vector<Figure> figures;
  for (auto& [way, figure] : by_pair) {
    figure.rate_bps = stats::median(rates.at(way));
    figures.push_back(figure);
  }
  return figures;
}

std::vector<Finding> findings(const std::vector<std::string>& hosts,
                              const std::vector<Figure>& figures) {
  std::vector<Finding> found;
  for (const Kind& kind : kinds()) {
    Badness badness{.hosts = hosts.size(),
                    .values = std::vector<double>(hosts.size() * hosts.size()),
                    .least_spread = kind.least_spread,
                    .least_difference = kind.least_difference};
    for (const Figure& f : figures) {
      badness.values[static_cast<std::size_t>(f.from) * hosts.size() +
                     static_cast<std::size_t>(f.to)] = kind.badness(f);
    }
    for (const Suspect& suspect : suspects(badness)) {
      const bool is_mirror =
          kind.both_ways && (!suspect.from || (suspect.to && *suspect.to < *suspect.from));
      if (is_mirror) continue;
      Finding one{
          .what = kind.what,
          .from = suspect.from ? std::optional(static_cast<int>(*suspect.from)) : std::nullopt,
          .to = suspect.to ? std::optional(static_cast<int>(*suspect.to)) : std::nullopt,
          .value = kind.value(suspect.value),
          .usual = kind.value(suspect.usual),
          .score = suspect.score};
      one.text = text_of(one, hosts, kind.both_ways);
      found.push_back(std::move(one));
    }
  }
  return found;
}

nlohmann::ordered_json to_json(const std::vector<std::string>& hosts,
                               const std::vector<Figure>& figures,
                               const std::vector<Finding>& found) {
  using nlohmann::ordered_json;
  const auto name = [&](int host) { return hosts[static_cast<std::size_t>(host)]; };
  ordered_json document{{"pairs", ordered_json::array()}, {"suspects", ordered_json::array()}};
  for (const Figure& f : figures) {
    document["pairs"].push_back({{"from", name(f.from)},
                                 {"to", name(f.to)},
                                 {"rate_bps", f.rate_bps},
                                 {"round_trip_s", f.round_trip_s},
                                 {"retransmitted_packets", f.retransmitted}});
  }
  for (const Finding& f : found) {
    document["suspects"].push_back({{"what", f.what},
                                    {"from", f.from ? ordered_json(name(*f.from)) : ordered_json()},
                                    {"to", f.to ? ordered_json(name(*f.to)) : ordered_json()},
                                    {"value", f.value},
                                    {"usual", f.usual},
                                    {"score", f.score},
                                    {"text", f.text}});
  }
  return document;
}

std::string to_text(const std::vector<std::string>& hosts, const std::vector<Figure>& figures,
                    const std::vector<Finding>& found) {
  std::string text =
      hosts.size() <= kMostColumns ? matrix(hosts, figures) : slowest(hosts, figures);
  std::vector<double> rates;
  std::vector<double> times;
  for (const Figure& f : figures) {
    rates.push_back(f.rate_bps);
    times.push_back(f.round_trip_s);
  }
  text += fmt::format("median {}, {} there and back\n", rate_text(stats::median(rates)),
                      readable(from_seconds(stats::median(times))));
  for (std::size_t i = 0; i < std::min(found.size(), kMostFindings); ++i) {
    text += fmt::format("BAD  {} (score {:.0f})\n", found[i].text, found[i].score);
  }
  if (found.size() > kMostFindings) {
    text += fmt::format("BAD  {} more; --json has them all\n", found.size() - kMostFindings);
  }
  if (found.empty()) {
    text += hosts.size() < 3 ? "of two hosts nobody can say which one is slow\n"
                             : "no host and no way stands out\n";
  }
  return text;
}

}  // namespace tw::pairs
