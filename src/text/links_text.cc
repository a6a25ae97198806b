// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/links_text.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tw::text {
namespace {

constexpr std::size_t kMostPlaces = 3;

std::int64_t missing(const record::Link& link) {
  return link.counted ? link.counted->dropped_packets + link.counted->lost_packets : 0;
}

std::string place_text(const record::Link& link) {
  const std::int64_t dropped = link.counted->dropped_packets;
  const std::int64_t lost = link.counted->lost_packets;
  std::string text = way_text(link.name, link.direction) + ": ";
  if (dropped > 0) text += fmt::format("{} found the queue full", dropped);
  if (dropped > 0 && lost > 0) text += ", ";
  if (lost > 0) text += fmt::format("{} as asked for", lost);
  return text;
}

/// Who used the busiest link, where several did.
std::string shares_text(const record::Run& run) {
  std::string text;
  for (const record::Link& link : run.network.links) {
    if (link.name != run.utilisation->link || link.direction != run.utilisation->direction)
      continue;
    for (const record::LinkShare& share : link.shares) {
      text += fmt::format("{}{} {:.0f} %", text.empty() ? ": " : ", ", printable(share.of),
                          100 * share.share);
    }
  }
  return text.empty() ? text : text + " of its bytes";
}

std::string lost_text(const record::Network& network) {
  std::vector<const record::Link*> places;
  for (const record::Link& link : network.links) {
    if (missing(link) > 0) places.push_back(&link);
  }
  if (places.empty()) return {};
  std::stable_sort(places.begin(), places.end(),
                   [](const auto* a, const auto* b) { return missing(*a) > missing(*b); });
  std::string text = "packets lost at ";
  for (std::size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i) {
    text += (i == 0 ? "" : "; ") + place_text(*places[i]);
  }
  if (places.size() > kMostPlaces) {
    text += fmt::format("; {} more in links.csv", places.size() - kMostPlaces);
  }
  return text + "\n";
}

}  // namespace

std::string way_text(std::string_view link, std::string_view direction) {
  const bool from = direction == "from_host";
  if (link == "core") return from ? "core, left to right" : "core, right to left";
  if (link.find('-') != std::string_view::npos) {
    return fmt::format("{}, {}", link, from ? "up" : "down");
  }
  return fmt::format("{} {}", link, from ? "sending" : "receiving");
}

std::string links_text(const record::Run& run) {
  std::string text;
  if (run.utilisation) {
    text = fmt::format("busiest link: {}, {:.0f} % full ({}){}\n",
                       way_text(run.utilisation->link, run.utilisation->direction),
                       100 * run.utilisation->share, readable(BitRate(run.utilisation->rate_bps)),
                       shares_text(run));
  }
  return text + lost_text(run.network);
}

}  // namespace tw::text
