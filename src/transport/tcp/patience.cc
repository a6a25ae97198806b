// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/patience.h"

#include "trainwire/os/clock.h"

namespace tw::transport::tcp {
namespace {

constexpr std::int64_t kLookNs = 200'000'000;

}  // namespace

Patience::Patience(Duration most) : most_(most), since_ns_(os::monotonic_ns()) {}

void Patience::restart() { since_ns_ = os::monotonic_ns(); }

bool Patience::wait(std::span<pollfd> sockets) {
  const std::int64_t before = os::monotonic_ns();
  const int ready = ::poll(sockets.data(), sockets.size(), static_cast<int>(kLookNs / 1'000'000));
  const std::int64_t now = os::monotonic_ns();
  if (ready > 0 || now - before > 2 * kLookNs) since_ns_ = now;
  return now - since_ns_ <= most_.count();
}

}  // namespace tw::transport::tcp
