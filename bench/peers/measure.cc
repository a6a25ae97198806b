// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <numeric>
#include <optional>

namespace tw::peers {
namespace {

/// Values of the first operation: small whole numbers that differ from element to element (with a
/// period that divides no chunk) and from rank to rank, so that a chunk put in the wrong place or
/// added twice shows.
constexpr std::size_t kPeriod = 251;

void fill(const Peer& peer, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % kPeriod) + static_cast<float>(peer.rank);
  }
}

/// After `operations` in place each element is the sum over ranks, times ranks^(operations - 1).
float count_wrong(const Peer& peer, std::span<const float> values, int operations) {
  const double ranks = peer.ranks;
  const double growth = std::pow(ranks, operations - 1);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double sum = ranks * static_cast<double>(i % kPeriod) + ranks * (ranks - 1) / 2;
    // Exact for powers of two; otherwise each addition may round by half of 2^-23.
    const double slack = 1e-7 * ranks * operations;
    if (!(std::abs(values[i] - sum * growth) <= slack * sum * growth)) ++wrong;
  }
  return static_cast<float>(wrong);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// An all-reduce ends on no rank before it has begun on all.
void barrier(const Peer& peer) {
  std::vector<float> nothing(static_cast<std::size_t>(peer.ranks));
  peer.sum(nothing);
}

/// One value of each rank, known to all: a sum of which each rank contributes one place.
std::vector<float> gather(const Peer& peer, float mine) {
  std::vector<float> all(static_cast<std::size_t>(peer.ranks));
  all[static_cast<std::size_t>(peer.rank)] = mine;
  peer.sum(all);
  return all;
}

/// What this rank saw of some operations, in total.
struct Share {
  double time_s = 0;
  double cpu_s = 0;
  float wrong = 0;
};

void add_operations(const Peer& peer, std::span<float> values, int operations, Share& share) {
  fill(peer, values);
  barrier(peer);
  const double cpu_start = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < operations; ++i) peer.sum(values);
  const auto end = std::chrono::steady_clock::now();
  share.time_s += std::chrono::duration<double>(end - start).count();
  share.cpu_s += cpu_seconds() - cpu_start;
  share.wrong += count_wrong(peer, values, operations);
}

std::size_t elements_of(const std::string& size) {
  const std::optional<Bytes> bytes = parse_bytes(size);
  if (!bytes || bytes->count() <= 0 || bytes->count() % 4 != 0) {
    throw SpecError(fmt::format("\"{}\" is no size in whole float32; try 64KiB or 100MB", size));
  }
  return static_cast<std::size_t>(bytes->count()) / sizeof(float);
}

}  // namespace

// Values start below 2^8 + ranks and are at most 2^100 times as much at the end; floats end at
// 2^128.
int operations_until_refill(int ranks) { return static_cast<int>(100 / std::log2(ranks)); }

Row measure(const Peer& peer, std::size_t elements, int repeats) {
  std::vector<float> values(elements);
  Share warm_up;
  add_operations(peer, values, 1, warm_up);
  Share share{.wrong = warm_up.wrong};
  for (int done = 0; done < repeats;) {
    const int operations = std::min(repeats - done, operations_until_refill(peer.ranks));
    add_operations(peer, values, operations, share);
    done += operations;
  }
  const auto per_operation = [&](double total) { return static_cast<float>(total / repeats); };
  const std::vector<float> times = gather(peer, per_operation(share.time_s));
  const std::vector<float> cpu = gather(peer, per_operation(share.cpu_s));
  const std::vector<float> wrong = gather(peer, share.wrong);
  return {.time_s = *std::max_element(times.begin(), times.end()),
          .cpu_s = std::accumulate(cpu.begin(), cpu.end(), 0.0F),
          .wrong = std::accumulate(wrong.begin(), wrong.end(), 0.0F)};
}

void measure_and_print(const Peer& peer, const Request& request) {
  if (peer.ranks < 2) throw SpecError("an exchange takes at least two ranks");
  std::string rows;
  for (const std::string& size : request.sizes) {
    const std::size_t elements = elements_of(size);
    const Row row = measure(peer, elements, request.repeats);
    rows += fmt::format(R"({}{{"bytes": {}, "time_s": {:.9f}, "cpu_s": {:.9f}, "wrong": {:.0f}}})",
                        rows.empty() ? "" : ", ", elements * sizeof(float), row.time_s, row.cpu_s,
                        row.wrong);
  }
  if (peer.rank == 0) fmt::print("{{\"schema\": 1, \"rows\": [{}]}}\n", rows);
}

int run_program(int argc, char** argv, const std::string& argument,
                const std::function<void(const Request&, const std::string&)>& run) {
  CLI::App app("times all-reduces between ranks; rank 0 prints JSON");
  Request request;
  std::string value;
  if (!argument.empty()) app.add_option(argument, value)->required();
  app.add_option("--sizes", request.sizes, "bytes of float32 values")->required()->delimiter(',');
  app.add_option("--repeats", request.repeats, "timed operations of each size")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
    run(request, value);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace tw::peers
