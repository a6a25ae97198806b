// SPDX-License-Identifier: Apache-2.0
// Reads a capture several times into one batch that is reused, and prints how fast: the ceiling of
// every analysis on one core. The first time fills the page cache and does not count.

#include "trainwire/capture/reader.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace tw {
namespace {

constexpr std::size_t kBatch = 4096;

struct Pass {
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  double wall_s = 0;
  double cpu_s = 0;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Pass read_once(const std::string& path, std::vector<packet::Packet>& batch) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  Pass pass;
  const auto reader = capture::open_capture(path);
  while (const std::size_t count = reader->read(batch)) {
    pass.packets += count;
    // One field of one packet: enough that nothing is optimised away.
    pass.wire_bytes += batch[count - 1].wire_bytes;
  }
  pass.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  pass.cpu_s = cpu_seconds() - cpu_start;
  return pass;
}

/// Median, least and most of packets per microsecond.
std::string summary(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  return fmt::format("{:.1f} Mpackets/s ({:.1f} to {:.1f})", rates[rates.size() / 2], rates.front(),
                     rates.back());
}

void measure(const std::string& path, int passes) {
  std::vector<packet::Packet> batch(kBatch);
  const Pass warm_up = read_once(path, batch);
  const double packets = static_cast<double>(warm_up.packets) / 1e6;
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i < passes; ++i) {
    const Pass pass = read_once(path, batch);
    wall.push_back(packets / pass.wall_s);
    cpu.push_back(packets / pass.cpu_s);
  }
  fmt::print("{} packets, {} passes\nprocessor time  {}\nelapsed time    {}\n", warm_up.packets,
             passes, summary(cpu), summary(wall));
}

}  // namespace
}  // namespace tw

int main(int argc, char** argv) {
  std::string path;
  int passes = 9;
  CLI::App app("Measures how fast a capture is read");
  app.add_option("FILE", path)->required();
  app.add_option("--passes", passes)->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tw::measure(path, passes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "read_capture: {}\n", error.what());
    return 3;
  }
}
