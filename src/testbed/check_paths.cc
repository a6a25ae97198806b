// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/check_paths.h"

#include "trainwire/testbed/shaping.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tw::testbed {
namespace {

/// What makes two ports alike. With EveryPort each is one of its own.
using Kind =
    std::tuple<int, double, std::int64_t, std::int64_t, double, double, std::int64_t, bool>;

class Seen {
 public:
  Seen(const network::NetPlan& plan, Coverage coverage) : plan_(plan), coverage_(coverage) {}

  bool adds(const CheckedPath& path) const {
    const std::vector<int> ports = plan_.path(path.from, path.to);
    return std::any_of(ports.begin(), ports.end(),
                       [&](int port) { return !kinds_.contains(kind(port)); });
  }
  void add(const CheckedPath& path) {
    for (const int port : plan_.path(path.from, path.to)) kinds_.insert(kind(port));
  }

 private:
  Kind kind(int number) const {
    const network::Port& port = plan_.ports[static_cast<std::size_t>(number)];
    const auto hosts = static_cast<int>(plan_.hosts.size());
    return {coverage_ == Coverage::EveryPort ? number
            : port.from < hosts              ? -1
            : port.to < hosts                ? -2
                                             : -3,
            port.rate.bits_per_second(),
            port.delay.count(),
            port.jitter.count(),
            port.loss,
            port.loss_burst,
            port.queue.count(),
            port.ecn.has_value()};
  }

  const network::NetPlan& plan_;
  Coverage coverage_;
  std::set<Kind> kinds_;
};

}  // namespace

std::vector<CheckedPath> paths_to_check(const network::NetPlan& plan, Coverage coverage) {
  const auto hosts = static_cast<int>(plan.hosts.size());
  std::vector<CheckedPath> paths;
  Seen seen(plan, coverage);
  const auto take = [&](const CheckedPath& path) {
    if (!seen.adds(path)) return;
    seen.add(path);
    paths.push_back(path);
  };
  if (hosts < 2) return {};
  for (int distance = 1; distance < hosts; ++distance) {
    for (int from = 0; from < hosts; ++from) take({from, (from + distance) % hosts});
  }
  return paths;
}

measure::PathExpectation expectation(const network::NetPlan& plan, const CheckedPath& path) {
  measure::PathExpectation expected{.rate = BitRate(1e15)};
  double kept = 1;
  for (const int number : plan.path(path.from, path.to)) {
    const network::Port& port = plan.ports[static_cast<std::size_t>(number)];
    kept *= 1 - port.loss;
    expected.round_trip += port.delay;
    if (port.rate < expected.rate) {
      expected.rate = port.rate;
      expected.burst = bucket_for(port, plan.mtu, plan.lossy()).burst;
    }
  }
  for (const int number : plan.path(path.to, path.from)) {
    expected.round_trip += plan.ports[static_cast<std::size_t>(number)].delay;
  }
  expected.loss = 1 - kept;
  return expected;
}

}  // namespace tw::testbed
