// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/clock.h"

#include <cerrno>
#include <ctime>

namespace tw::os {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

std::int64_t real_time_ns() { return now(CLOCK_REALTIME); }

std::int64_t monotonic_ns() { return now(CLOCK_MONOTONIC); }

Moment moment() { return {.real_ns = real_time_ns(), .monotonic_ns = monotonic_ns()}; }

std::int64_t clock_step_ns(const Moment& from, const Moment& to) {
  return (to.real_ns - from.real_ns) - (to.monotonic_ns - from.monotonic_ns);
}

std::int64_t process_cpu_ns() { return now(CLOCK_PROCESS_CPUTIME_ID); }

void sleep_until(std::int64_t monotonic_ns) {
  const timespec until{.tv_sec = monotonic_ns / kSecond, .tv_nsec = monotonic_ns % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace tw::os
