// SPDX-License-Identifier: Apache-2.0
// Captures that the commands are tried on.

#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

namespace tw::cli {

/// A ladder (capture/ladder.h) of `steps` ring all-reduces of 400,000 bytes among a, b, c, d, one
/// every 100 ms: six rounds in which each host passes 100,000 bytes to the next, in four frames,
/// and the receiver acknowledges. A round takes 1 ms.
inline std::string ring_ladder(int steps) {
  constexpr std::array kHosts{'a', 'b', 'c', 'd'};
  std::string text;
  long long next = 1;  // sequence number, the same for all
  for (int step = 0; step < steps; ++step) {
    for (int round = 0; round < 6; ++round) {
      const double start = 0.1 * step + 0.001 * round;
      for (int frame = 0; frame < 4; ++frame) {
        for (std::size_t i = 0; i < 4; ++i) {
          text += fmt::format(
              "{:.6f} {} > {} {}:{}\n", start + 0.0002 * frame + 0.00002 * static_cast<double>(i),
              kHosts[i], kHosts[(i + 1) % 4], next + 25'000 * frame, next + 25'000 * (frame + 1));
        }
      }
      next += 100'000;
      for (std::size_t i = 0; i < 4; ++i) {
        text += fmt::format("{:.6f} {} > {} ack {}\n",
                            start + 0.0008 + 0.00002 * static_cast<double>(i), kHosts[(i + 1) % 4],
                            kHosts[i], next);
      }
    }
  }
  return text;
}

}  // namespace tw::cli
