// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/signature.h"

#include "trainwire/collective/count.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::int64_t kElements = 1 << 20;  ///< payload that parts are counted with
constexpr int kMostTries = 300'000;

class Assignment {
 public:
  Assignment(const Pattern& pattern, const Signature& signature, double tolerance)
      : pattern_(pattern),
        signature_(signature),
        slack_(tolerance * pattern.largest()),
        used_(static_cast<std::size_t>(pattern.size()), false) {
    double parts = 0;
    for (const double part : signature.parts) parts += part;
    payload_ = pattern.total() / parts;
  }

  std::optional<Match> find() {
    if (!extend(0)) return std::nullopt;
    double off = 0;
    for (int from = 0; from < signature_.ranks; ++from) {
      for (int to = 0; to < signature_.ranks; ++to) off += difference(from, to);
    }
    return Match{.place_of = place_of_, .payload = payload_, .residual = off / pattern_.total()};
  }

 private:
  double difference(int from, int to) const {
    return std::abs(pattern_.at(place(from), place(to)) - payload_ * signature_.at(from, to));
  }
  int place(int rank) const { return place_of_[static_cast<std::size_t>(rank)]; }

  bool fits(int rank) const {
    for (int other = 0; other < rank; ++other) {
      if (difference(rank, other) > slack_ || difference(other, rank) > slack_) return false;
    }
    return true;
  }

  bool extend(int rank) {
    if (rank == signature_.ranks) return true;
    for (int candidate = 0; candidate < pattern_.size(); ++candidate) {
      if (used_[static_cast<std::size_t>(candidate)] || ++tries_ > kMostTries) continue;
      used_[static_cast<std::size_t>(candidate)] = true;
      place_of_.push_back(candidate);
      if (fits(rank) && extend(rank + 1)) return true;
      place_of_.pop_back();
      used_[static_cast<std::size_t>(candidate)] = false;
    }
    return false;
  }

  const Pattern& pattern_;
  const Signature& signature_;
  double slack_;
  double payload_ = 0;
  int tries_ = 0;
  std::vector<bool> used_;
  std::vector<int> place_of_;
};

/// Values in falling order, each within the slack of its counterpart: a cheap test before the
/// search.
bool same_values(std::vector<double> a, std::vector<double> b, double slack) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](double x, double y) { return std::abs(x - y) <= slack; });
}

bool may_match(const Pattern& pattern, const Signature& signature, double tolerance) {
  if (pattern.size() != signature.ranks || pattern.total() <= 0) return false;
  double parts = 0;
  for (const double part : signature.parts) parts += part;
  if (parts <= 0) return false;
  std::vector<double> found;
  std::vector<double> expected;
  for (int from = 0; from < pattern.size(); ++from) {
    for (int to = 0; to < pattern.size(); ++to) {
      found.push_back(pattern.at(from, to));
      expected.push_back(signature.at(from, to) * pattern.total() / parts);
    }
  }
  return same_values(std::move(found), std::move(expected), tolerance * pattern.largest());
}

}  // namespace

Signature signature_of(std::string_view strategy, int ranks, int servers) {
  const collective::Arrangement arrangement{.layout = collective::evenly(ranks, ranks),
                                            .servers = servers};
  const collective::Schedule schedule = collective::make_schedule(strategy, arrangement);
  const auto n = static_cast<std::size_t>(ranks);
  Signature signature{.ranks = ranks, .parts = std::vector<double>(n * n, 0)};
  collective::for_each_host_pair(
      schedule, arrangement.layout, kElements,
      [&](int from, int to, std::int64_t elements, std::int64_t) {
        signature.parts[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)] =
            static_cast<double>(elements) / static_cast<double>(kElements);
      });
  return signature;
}

std::optional<Match> match(const Pattern& pattern, const Signature& signature, double tolerance) {
  if (!may_match(pattern, signature, tolerance)) return std::nullopt;
  return Assignment(pattern, signature, tolerance).find();
}

}  // namespace tw::recognise
