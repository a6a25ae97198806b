// SPDX-License-Identifier: Apache-2.0
// Reads captures into flows once, and prints how many packets a second that was and the most memory
// it took: the part of an analysis that grows with the capture.

#include "trainwire/gather/captured.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void measure(const std::vector<std::string>& paths, const tw::gather::ReadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const tw::gather::Captured traffic = tw::gather::read_traffic(paths, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto packets = static_cast<double>(traffic.totals.packets);
  fmt::print("{} packets, {} flows, {} retired, {} pairs; {:.3f} s, {:.1f} Mpackets/s, {:.0f} MB\n",
             traffic.totals.packets, traffic.flows.size(), traffic.retired_flows,
             traffic.pairs.size(), took.count(), packets / took.count() / 1e6, peak_megabytes());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  tw::gather::ReadOptions options;
  CLI::App app("Measures how fast captures are read into flows");
  app.add_option("FILE", paths)->required();
  app.add_option("--filter", options.filter);
  CLI11_PARSE(app, argc, argv);
  try {
    measure(paths, options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "read_traffic: {}\n", error.what());
    return 3;
  }
}
