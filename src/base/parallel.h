// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on all processors.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace tw {

/// Calls `work(i)` once for each i < count, in any order and on several threads at a time; returns
/// when all are done. What one throws is thrown, after all others have ended. REQUIRES: calls do
/// not touch what others write.
template <typename Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<void>> others;  // each waits for its thread when it goes
  for (std::size_t t = 1; t < std::min(count, processors); ++t) {
    others.push_back(std::async(std::launch::async, run));
  }
  run();
  for (std::future<void>& other : others) other.get();
}

}  // namespace tw
