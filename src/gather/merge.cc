// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/gather/conclude.h"
#include "trainwire/gather/partial.h"
#include "trainwire/packet/address_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace tw::gather {
namespace {

void renumber(std::vector<flow::Flow>& flows, const Numbers& numbers) {
  for (flow::Flow& flow : flows) {
    flow.key.source = numbers[flow.key.source];
    flow.key.destination = numbers[flow.key.destination];
  }
}

bool changes_nothing(const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

const std::string& name_of(const PartialView& part) {
  static const std::string kNameless;
  return part.files.empty() ? kNameless : part.files.front().path;
}

/// Parts that were put together in any order are taken in this one.
void put_in_order(std::vector<PartialView>& parts) {
  for (PartialView& part : parts) std::ranges::sort(part.files, {}, &FileSummary::path);
  std::ranges::sort(parts, [](const PartialView& a, const PartialView& b) {
    return std::tuple(a.view.totals.packets == 0, a.view.totals.first_ns, name_of(a)) <
           std::tuple(b.view.totals.packets == 0, b.view.totals.first_ns, name_of(b));
  });
}

/// Windows fold in two, and so on: other widths do not fit.
void require_one_width(const std::vector<PartialView>& parts) {
  for (const PartialView& part : parts) {
    const auto low = static_cast<std::uint64_t>(
        std::min(part.view.clock.width_ns, parts.front().view.clock.width_ns));
    const auto high = static_cast<std::uint64_t>(
        std::max(part.view.clock.width_ns, parts.front().view.clock.width_ns));
    if (high % low == 0 && std::has_single_bit(high / low)) continue;
    throw DataError(fmt::format(
        "{} and {}: parts with windows of different widths; make them with one --window",
        name_of(parts.front()), name_of(part)));
  }
}

std::size_t windows_of(const flow::View& view) {
  std::size_t windows = view.series.windows().size();
  for (const flow::Flow& flow : view.flows) windows += flow.series.windows().size();
  return windows;
}

std::size_t bursts_of(const flow::View& view) {
  std::size_t bursts = 0;
  for (const flow::Flow& flow : view.flows) bursts += flow.bursts.size();
  return bursts;
}

/// All views together keep to the budgets that one table has.
void fit(std::vector<PartialView>& parts, const flow::TableOptions& options) {
  std::int64_t width = 0;
  std::int64_t gap = 0;
  for (const PartialView& part : parts) {
    width = std::max(width, part.view.clock.width_ns);
    gap = std::max(gap, part.view.burst_gap_ns);
  }
  const auto all = [&](auto count) {
    return std::accumulate(
        parts.begin(), parts.end(), std::size_t{0},
        [&](std::size_t sum, const PartialView& p) { return sum + count(p.view); });
  };
  const auto coarsen_all = [&] {
    for (PartialView& part : parts) flow::coarsen(part.view, width, gap);
  };
  for (int i = 0; i < 30 && all(windows_of) > options.most_windows; ++i, width *= 2) coarsen_all();
  for (int i = 0; i < 30 && all(bursts_of) > options.most_bursts; ++i, gap *= 2) coarsen_all();
}

/// Not those that another part, captured at their source, tells as well.
void report_small(const std::vector<PartialView>& parts, const Captured& traffic,
                  const ReadOptions& options) {
  if (!options.retired) return;
  for (const PartialView& part : parts) {
    for (const flow::Flow& flow : part.small) {
      const packet::Address& source = traffic.addresses[flow.key.source];
      const bool told_at_source = std::ranges::any_of(parts, [&](const PartialView& other) {
        return &other != &part && other.home.size() == 1 && other.home.front() == source &&
               part.home != other.home;
      });
      if (!told_at_source) options.retired(flow, traffic.addresses);
    }
  }
}

}  // namespace

Numbers numbers_in(packet::AddressTable& table, std::span<const packet::Address> addresses) {
  Numbers numbers;
  numbers.reserve(addresses.size());
  for (const packet::Address& address : addresses) {
    numbers.push_back(numbers.empty() ? 0 : table.number_of(address));
  }
  return numbers;
}

std::vector<packet::Address> all_of(const packet::AddressTable& table) {
  std::vector<packet::Address> addresses;
  addresses.reserve(table.size());
  for (std::uint32_t i = 0; i < table.size(); ++i) addresses.push_back(table[i]);
  return addresses;
}

void renumber(PartialView& part, const Numbers& numbers) {
  if (changes_nothing(numbers)) return;
  renumber(part.view.flows, numbers);
  renumber(part.small, numbers);
  for (flow::PairCount& pair : part.view.pairs) {
    pair.source = numbers[pair.source];
    pair.destination = numbers[pair.destination];
  }
  std::sort(part.view.flows.begin(), part.view.flows.end(),
            [](const flow::Flow& a, const flow::Flow& b) {
              return std::tie(a.key, a.first_ns) < std::tie(b.key, b.first_ns);
            });
}

void compact(PartialView& part) {
  std::vector<bool> used(std::max<std::size_t>(part.addresses.size(), 1));
  used[0] = true;
  const auto use = [&](std::uint32_t number) { used[number] = true; };
  for (const auto* flows : {&part.view.flows, &part.small}) {
    for (const flow::Flow& flow : *flows) {
      use(flow.key.source);
      use(flow.key.destination);
    }
  }
  for (const flow::PairCount& pair : part.view.pairs) {
    use(pair.source);
    use(pair.destination);
  }
  Numbers numbers(used.size());
  std::vector<packet::Address> kept;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    numbers[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(i < part.addresses.size() ? part.addresses[i] : packet::Address{});
  }
  part.addresses = std::move(kept);
  renumber(part, numbers);
}

Captured merge(std::vector<PartialView> parts, const ReadOptions& options) {
  check(!parts.empty(), "there is something to merge");
  put_in_order(parts);
  require_one_width(parts);
  fit(parts, options.table);
  packet::AddressTable table;
  Captured traffic = {};
  std::vector<flow::View> views;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    renumber(parts[i], numbers_in(table, parts[i].addresses));
    for (FileSummary& file : parts[i].files) {
      file.view = i;
      traffic.files.push_back(std::move(file));
    }
  }
  traffic.addresses = all_of(table);
  std::ranges::stable_sort(traffic.files, {}, &FileSummary::path);
  report_small(parts, traffic, options);
  for (PartialView& part : parts) views.push_back(std::move(part.view));
  const std::size_t first = traffic.files.empty() ? 0 : traffic.files.front().view;
  conclude(traffic, std::move(views), first, options.one_clock ? Clocks::Common : Clocks::Own);
  return traffic;
}

}  // namespace tw::gather
