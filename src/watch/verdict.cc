// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;

constexpr double kWaitCaution = 0.15;
constexpr double kWaitBound = 0.30;
constexpr double kBusyCaution = 0.60;
constexpr double kBusyBound = 0.80;
constexpr double kStealVoid = 0.02;
/// Beyond so many times what is a caution, links were not those that were asked for.
constexpr int kLateBound = 5;
constexpr Duration kStallCaution = 100ms;
constexpr Duration kStallBound = 500ms;

void add(WatchVerdict& verdict, WatchLevel level, std::string reason) {
  verdict.level = std::max(verdict.level, level);
  verdict.reasons.push_back(std::move(reason));
}

void judge_wait(double wait, WatchVerdict& verdict) {
  if (wait <= kWaitCaution) return;
  const bool bound = wait > kWaitBound;
  add(verdict, bound ? WatchLevel::CpuBound : WatchLevel::Caution,
      fmt::format("a process waited {:.1f} % of the time for a processor (more than {:.0f} %)",
                  100 * wait, 100 * (bound ? kWaitBound : kWaitCaution)));
}

void judge_busy(double busy, WatchVerdict& verdict) {
  if (busy <= kBusyCaution) return;
  const bool bound = busy > kBusyBound;
  add(verdict, bound ? WatchLevel::CpuBound : WatchLevel::Caution,
      fmt::format("the machine was {:.1f} % busy (more than {:.0f} %)", 100 * busy,
                  100 * (bound ? kBusyBound : kBusyCaution)));
}

void judge_lateness(const ReleaseLateness& lateness, WatchVerdict& verdict) {
  const Duration most = std::max<Duration>(1ms, lateness.delay / 10);
  if (lateness.p99 <= most) return;
  const bool bound = lateness.p99 > kLateBound * most;
  add(verdict, bound ? WatchLevel::CpuBound : WatchLevel::Caution,
      fmt::format("one packet in a hundred was released {} or more after its time (more than {})",
                  readable(lateness.p99), readable(bound ? kLateBound * most : most)));
}

/// A network that stands still for a while delays few packets, and them by much.
void judge_stall(const ReleaseLateness& lateness, WatchVerdict& verdict) {
  if (lateness.longest <= kStallCaution) return;
  const bool bound = lateness.longest > kStallBound;
  add(verdict, bound ? WatchLevel::CpuBound : WatchLevel::Caution,
      fmt::format("the emulated network stood still: a packet was released up to {} after its time "
                  "(more than {})",
                  readable(lateness.longest), readable(bound ? kStallBound : kStallCaution)));
}

}  // namespace

WatchVerdict verdict(const Load& load, const Circumstances& circumstances) {
  WatchVerdict verdict;
  if (load.steal > kStealVoid) {
    add(verdict, WatchLevel::Void,
        fmt::format(
            "the hypervisor took {:.1f} % of the processors' time away (more than {:.0f} %)",
            100 * load.steal, 100 * kStealVoid));
  }
  judge_wait(load.wait, verdict);
  if (!circumstances.computes) judge_busy(load.busy, verdict);
  if (circumstances.lateness) {
    judge_lateness(*circumstances.lateness, verdict);
    judge_stall(*circumstances.lateness, verdict);
  }
  return verdict;
}

std::string level_name(WatchLevel level) {
  switch (level) {
    case WatchLevel::Fine:
      return "fine";
    case WatchLevel::Caution:
      return "caution";
    case WatchLevel::CpuBound:
      return "CPU-bound";
    case WatchLevel::Void:
      return "void";
  }
  return "";
}

}  // namespace tw::watch
