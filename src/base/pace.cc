// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/pace.h"

#include <algorithm>
#include <limits>

namespace tw {
namespace {

constexpr double kLeastPiece = 16 << 10;
constexpr double kPieceTimeS = 200e-6;
constexpr double kCatchUpS = 0.1;

}  // namespace

std::uint64_t Pace::allowance(std::int64_t sent, std::int64_t now_ns) {
  if (bytes_per_s_ <= 0) return std::numeric_limits<std::uint64_t>::max() / 2;
  const double piece = std::max(kLeastPiece, bytes_per_s_ * kPieceTimeS);
  const double most = std::max(piece, bytes_per_s_ * kCatchUpS);
  double left = bytes_per_s_ * 1e-9 * static_cast<double>(now_ns - begin_ns_) - forgone_ -
                static_cast<double>(sent);
  if (left > most) {
    forgone_ += left - most;
    left = most;
  }
  const bool is_enough = left >= piece;
  const double missing = is_enough ? piece : piece - left;
  next_ns_ = now_ns + static_cast<std::int64_t>(1e9 * missing / bytes_per_s_) + 1;
  return is_enough ? static_cast<std::uint64_t>(left) : 0;
}

}  // namespace tw
