// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/captured.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/gather/chain_reader.h"
#include "trainwire/gather/chains.h"
#include "trainwire/gather/conclude.h"
#include "trainwire/gather/partial.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>

namespace tw::gather {
namespace {

std::vector<ReadChain> read_all(Reading& reading, const std::vector<Chain>& chains) {
  // Two threads for a single chain even on one processor: one may wait for the file.
  const std::size_t processors = std::max(2u, std::thread::hardware_concurrency());
  const std::size_t each = processors / std::min(chains.size(), processors);
  std::vector<ReadChain> read(chains.size());
  in_parallel(chains.size(),
              [&](std::size_t i) { read[i] = read_chain(reading, chains[i], i, each); });
  return read;
}

std::vector<ReadChain> read_all(Reading& reading) {
  const std::vector<Chain> chains = chains_of(reading.files());
  std::vector<ReadChain> read = read_all(reading, chains);
  if (chains.size() == 1 || reading.lasted_as_seen()) return read;
  // What looked like the end of a file was none: who follows whom is not known in advance.
  reading.begin_anew();
  return read_all(reading, {by_beginning(reading.files())});
}

/// Points of view in the order in which their files begin, with common numbers for addresses.
std::vector<ReadView> together(std::vector<ReadChain> chains, const std::vector<Glimpse>& files,
                               std::vector<packet::Address>& addresses) {
  packet::AddressTable table;
  std::vector<ReadView> views;
  for (ReadChain& chain : chains) {
    if (chains.size() > 1) {
      const Numbers numbers = numbers_in(table, chain.addresses);
      for (ReadView& view : chain.views) renumber(view.part, numbers);
    }
    std::ranges::move(chain.views, std::back_inserter(views));
  }
  addresses = chains.size() > 1 ? all_of(table) : std::move(chains.front().addresses);
  std::ranges::stable_sort(views, {}, [&](const ReadView& view) {
    return std::tuple(files[view.files.front()].first_ns, view.files.front());
  });
  return views;
}

Captured read_whole(std::span<const std::string> paths, const ReadOptions& options) {
  Reading reading(paths, options, Purpose::Whole);
  Captured traffic = {};
  std::vector<ReadView> read = together(read_all(reading), reading.files(), traffic.addresses);
  std::vector<flow::View> views;
  for (ReadView& view : read) {
    for (const std::size_t file : view.files) reading.summaries()[file].view = views.size();
    views.push_back(std::move(view.part.view));
  }
  traffic.files = std::move(reading.summaries());
  // The first file's clock is everybody's.
  const std::size_t first = views.empty() ? 0 : traffic.files.front().view;
  conclude(traffic, std::move(views), first, options.one_clock ? Clocks::Common : Clocks::Own);
  return traffic;
}

/// What each point of view saw, not yet combined.
std::vector<PartialView> read_apart(std::span<const std::string> paths,
                                    const ReadOptions& options) {
  Reading reading(paths, options, Purpose::Parts);
  std::vector<PartialView> parts;
  for (ReadChain& chain : read_all(reading)) {
    for (ReadView& view : chain.views) {
      view.part.addresses = chain.addresses;
      for (const std::size_t file : view.files) {
        view.part.files.push_back(reading.summaries()[file]);
      }
      compact(view.part);
      parts.push_back(std::move(view.part));
    }
  }
  return parts;
}

/// All parts, each read by itself.
std::vector<PartialView> decoded(std::span<const std::string> paths, const ReadOptions& options) {
  std::vector<std::vector<PartialView>> read(paths.size());
  in_parallel(paths.size(), [&](std::size_t i) {
    if (options.stop && options.stop()) return;
    read[i] = decode_partial(text_of(paths[i]), paths[i]);
  });
  std::vector<PartialView> parts;
  for (std::vector<PartialView>& each : read) std::ranges::move(each, std::back_inserter(parts));
  return parts;
}

}  // namespace

Captured read_traffic(std::span<const std::string> paths, const ReadOptions& options) {
  check(!paths.empty(), "there is a file to read");
  if (std::ranges::none_of(paths, is_partial)) return read_whole(paths, options);
  return merge(read_partial(paths, options), options);
}

std::vector<PartialView> read_partial(std::span<const std::string> paths,
                                      const ReadOptions& options) {
  std::vector<std::string> captures(paths.begin(), paths.end());
  const auto found = std::stable_partition(captures.begin(), captures.end(),
                                           [](const auto& path) { return !is_partial(path); });
  std::vector<PartialView> parts = decoded({found, captures.end()}, options);
  captures.erase(found, captures.end());
  if (captures.empty() || (options.stop && options.stop())) return parts;
  std::ranges::move(read_apart(captures, options), std::back_inserter(parts));
  return parts;
}

}  // namespace tw::gather
