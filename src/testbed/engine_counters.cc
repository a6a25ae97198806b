// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/engine_counters.h"

#include "trainwire/os/errno_error.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

namespace tw::testbed {

void Lateness::add(std::int64_t late_ns) {
  const auto steps = static_cast<std::uint64_t>(std::max<std::int64_t>(late_ns - 1, 0)) /
                     static_cast<std::uint64_t>(kLatenessBase);
  const std::size_t bucket =
      std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(steps)), buckets.size() - 1);
  buckets[bucket].fetch_add(1, std::memory_order_relaxed);
}

std::int64_t Lateness::quantile_ns(double q) const {
  std::uint64_t total = 0;
  for (const auto& bucket : buckets) total += bucket.load(std::memory_order_relaxed);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    below += buckets[i].load(std::memory_order_relaxed);
    if (below > 0 && static_cast<double>(below) >= q * static_cast<double>(total)) {
      return kLatenessBase << i;
    }
  }
  return 0;
}

EngineCounters::EngineCounters(std::size_t ports)
    : size_(sizeof(Common) + ports * sizeof(fabric::PortCounters)), count_(ports) {
  memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) {
    throw os::errno_error("sharing memory with the network's engine", errno);
  }
  common_ = new (memory_) Common;
  auto* const behind = static_cast<std::byte*>(memory_) + sizeof(Common);
  ports_ = reinterpret_cast<fabric::PortCounters*>(behind);
  std::uninitialized_default_construct_n(ports_, ports);
}

EngineCounters::EngineCounters(EngineCounters&& other) noexcept { *this = std::move(other); }

EngineCounters& EngineCounters::operator=(EngineCounters&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(common_, other.common_);
  std::swap(ports_, other.ports_);
  std::swap(count_, other.count_);
  return *this;
}

EngineCounters::~EngineCounters() {
  if (memory_ != nullptr) {
    ::munmap(memory_, size_);
  }
}

}  // namespace tw::testbed
