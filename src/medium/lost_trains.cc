// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/lost_trains.h"

#include "trainwire/fluid/tcp_laws.h"

#include <algorithm>

namespace tw::medium {
namespace {

constexpr double kTrain_s = 1e-3;  ///< of the rate
constexpr double kAhead = 1.2;     ///< of the window's rate: at what a sender would pace
constexpr double kShortest = 2;    ///< segments
constexpr int kRounds = 30;

double window_of(const fluid::TcpPath& path, double loss) {
  const double line = path.line * path.rtt_s / path.segment_bytes;
  const double most = std::min(2 * line + 1, path.largest_window / path.segment_bytes);
  if (path.stack == fluid::Stack::Bbr) return most;
  const double under_loss = path.stack == fluid::Stack::Reno
                                ? fluid::reno_window(loss)
                                : fluid::cubic_window(loss, path.rtt_s);
  return std::min(most, under_loss);
}

}  // namespace

double mean_train(const fluid::TcpPath& path, double largest_train) {
  if (largest_train <= kShortest || path.rtt_s <= 0) return std::max(1.0, largest_train);
  double train = kShortest;
  for (int i = 0; i < kRounds; ++i) {
    const double window = window_of(path, path.loss / train);
    const double longest = std::max(1.0, std::min(largest_train, window / 2));
    const double paced = std::max(kShortest, kAhead * window * kTrain_s / path.rtt_s);
    train = (train + std::min(paced, longest)) / 2;
  }
  return train;
}

}  // namespace tw::medium
