// SPDX-License-Identifier: Apache-2.0
// "topology: [ Ring, Switch ]", "npus_count: [ 8, 2 ]", "bandwidth: [ 400, 50 ]" in GB/s, "latency: [ 936.25, 1000 ]" in ns, one entry a
// dimension; of the first version, JSON, "topologies-per-dim", "units-count", "links-count", "link-bandwidth", "link-latency"; and the system's "all-reduce-implementation": ["ring", "direct"].
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/foreign/design.h"
#include "trainwire/result/json_text.h"
#include "trainwire/tables/columns.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::foreign {
namespace {

/// Of a network written as JSON.
std::string_view unquoted(std::string_view word) {
  if (word.size() > 2 && word.front() == '"' && word.back() == '"')
    return word.substr(1, word.size() - 2);
  return word;
}

/// Entries of "key: [ a, b ]", also over several lines or as "- a" lines below the key.
std::vector<std::string> list_of(std::string_view text, std::string_view key) {
  std::vector<std::string> made;
  bool here = false;
  tables::for_lines(text, [&](std::string_view line) {
    line = line.substr(0, line.find('#'));
    const std::size_t colon = line.find(':');
    const auto words = tables::words_of(line.substr(0, colon == line.npos ? line.size() : colon));
    if (colon != line.npos) {
      here = words.size() == 1 && unquoted(words.front()) == key;
      line.remove_prefix(colon + 1);
    }
    if (!here) return;
    std::string plain;
    for (const char c : line)
      plain += c == '[' || c == ']' || c == '{' || c == '}' || c == ',' || c == '"' || c == '\''
                   ? ' '
                   : c;
    for (const std::string_view word : tables::words_of(plain)) {
      if (word != "-" && made.size() < 16) made.emplace_back(word);
    }
  });
  return made;
}

std::vector<double> numbers_of(std::string_view text, std::string_view key,
                               const std::string& name) {
  std::vector<double> made;
  for (const std::string& word : list_of(text, key)) {
    const auto number = tables::number_in(word);
    if (!number || *number < 0 || *number > 1e12) {
      throw DataError(fmt::format("reading {}: {}: \"{}\" is no number; write {}: [ 50.0 ]",
                                  printable(name), key, printable(word), key));
    }
    made.push_back(*number);
  }
  if (made.empty()) {
    throw DataError(
        fmt::format("reading {}: {} is missing; write {}: [ 4 ]", printable(name), key, key));
  }
  return made;
}

void set(Design& into, const std::string& flag, std::string value) {
  into.flags.values.try_emplace(flag, std::move(value));
}

std::string time_text(double nanos) {
  return fmt::format("{}ns", static_cast<long long>(std::llround(nanos)));
}

}  // namespace

void add_astra_network(std::string_view text, const std::string& name, Design& into) {
  // The first version's bandwidth is of one link, and it tells how many an NPU has.
  const bool is_first = text.find("\"units-count\"") != text.npos;
  const auto shapes = list_of(text, is_first ? "topologies-per-dim" : "topology");
  const auto counts = numbers_of(text, is_first ? "units-count" : "npus_count", name);
  auto rates = numbers_of(text, is_first ? "link-bandwidth" : "bandwidth", name);
  const auto delays = numbers_of(text, is_first ? "link-latency" : "latency", name);
  const std::size_t last = counts.size() - 1;
  const auto links_told = is_first ? list_of(text, "links-count") : std::vector<std::string>();
  if (shapes.size() != counts.size() || rates.size() != counts.size() ||
      delays.size() != counts.size()) {
    throw DataError(
        fmt::format("reading {}: {} need an entry for each dimension; they have {}, {}, {} and {}",
                    printable(name),
                    is_first ? "topologies-per-dim, units-count, link-bandwidth and link-latency"
                             : "topology, npus_count, bandwidth and latency",
                    shapes.size(), counts.size(), rates.size(), delays.size()));
  }
  const auto of_last = links_told.size() == counts.size() ? tables::number_in(links_told[last])
                                                          : std::optional<double>();
  const bool has_links = of_last && *of_last >= 1 && *of_last <= 1e6;
  if (has_links) rates[last] *= *of_last;
  double inside = 1;
  for (std::size_t i = 0; i < last; ++i) inside *= std::max(1.0, counts[i]);
  const double ranks = inside * counts[last];
  if (ranks < 1 || ranks > 1e6 || rates[last] <= 0) {
    throw DataError(fmt::format("reading {}: {:g} NPUs at {:g} GB/s make no network",
                                printable(name), ranks, rates[last]));
  }
  const std::string& shape = shapes[last];
  // A neighbour in a ring is one link away, in a star two.
  const bool by_switch = shape == "Switch";
  const double links = shape == "FullyConnected" && !has_links ? counts[last] - 1 : 1;
  set(into, "--topology", "star");
  into.hosts = {
      .count = counts[last], .inside = inside, .gigabytes = rates[last] * std::max(1.0, links)};
  set(into, "--delay", time_text(by_switch ? delays[last] : delays[last] / 2));
  if (!by_switch) {
    into.remarks.push_back(fmt::format(
        "{} of {:.0f} is written as a star: each host's link has what its links have together, and "
        "two hosts are as far apart as neighbours are there",
        shape, counts[last]));
  }
  if (last > 0) {
    into.remarks.push_back(fmt::format(
        "the inner {} of {:.0f} NPUs {} a host here: its links inside are taken as free",
        last == 1 ? "dimension" : "dimensions", inside, last == 1 ? "is" : "are"));
  }
}

void add_astra_system(std::string_view text, const std::string& name, Design& into) {
  const auto document = result::parse_json(text);
  const auto found =
      document.is_object() ? document.find("all-reduce-implementation") : document.end();
  if (!document.is_object() || found == document.end() || !found->is_array() || found->empty() ||
      !found->back().is_string()) {
    throw DataError(fmt::format(
        "reading {}: \"all-reduce-implementation\" is no list of names; write [\"ring\"]",
        printable(name)));
  }
  const auto algorithm = found->back().get<std::string>();
  std::string strategy;
  if (algorithm == "ring" || algorithm == "oneRing") strategy = "ring";
  if (algorithm == "direct" || algorithm == "oneDirect") strategy = "clique";
  if (algorithm.ends_with("alvingDoubling")) strategy = "halving_doubling";
  if (algorithm == "doubleBinaryTree") strategy = "double_tree";
  if (strategy.empty()) {
    into.remarks.push_back(fmt::format(
        "all-reduce-implementation \"{}\" has no equal here: the strategy is left as it is",
        printable(algorithm)));
    return;
  }
  set(into, "--strategy", strategy);
  into.remarks.emplace_back(
      "of the system the all-reduce was taken; delays and memory bandwidth of NPUs were not");
}

}  // namespace tw::foreign
