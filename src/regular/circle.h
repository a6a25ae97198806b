// SPDX-License-Identifier: Apache-2.0
// How long chunks take around a circle of places whose hops take constant times: the heart of every
// ring, without its 2n(n-1) transfers.
//
// Place i sends chunk i - r (modulo n) in round r, of 2(n-1) rounds in all: from S[i,r], when it has
// sent the chunk of the round before and has this one, to F[i,r]. With L the time that a chunk needs
// to leave, D its way and A the time in which its first bytes leave:
//
//   S[i,0] = begin[i]
//   S[i,r] = max(F[i,r-1], F[i-1,r-1] + D[i-1])       where chunks are passed on as a whole
//   S[i,r] = max(F[i,r-1], S[i-1,r-1] + A[i-1] + D[i-1])  where they are passed on as they come
//   F[i,r] = max(S[i,r] + L[i], F[i-1,r-1] + D[i-1])
//
// Chunks come in two sizes (the first elements mod n of them are one element longer), so L depends
// on the chunk too.
//
// F is a last passage: the longest of all paths that in each round stay at their place (for L) or go
// on with their chunk. A path visits a stretch of places, pays for going on once at each, and stays
// at the one whose L is the largest. So the maximum is over begins of stretches and over values of
// L, each by a sliding maximum between places that need more: O(n log n) where slow places are
// spread at random, not O(n^2). Where chunks differ in size, their numbers fall into a few runs of
// one size, which a path crosses in order; each run is solved from the times at which paths enter it.

#pragma once

#include <cstdint>
#include <vector>

namespace tw::regular {

/// Times in nanoseconds, by place. REQUIRES: at least 2 places, no time below 0, A <= L.
struct Circle {
  std::vector<std::int64_t> long_leaving = {};   ///< L of the first `long_chunks` chunks
  std::vector<std::int64_t> short_leaving = {};  ///< of the others
  std::vector<std::int64_t> way = {};            ///< D
  std::vector<std::int64_t> first = {};          ///< A; kWhole: this hop brings whole chunks
  int long_chunks = 0;
  bool short_empty = false;  ///< the others are never sent, and nobody waits for them
  bool long_whole = true;    ///< such chunks are passed on as a whole
  bool short_whole = true;

  int places() const { return static_cast<int>(way.size()); }
};
inline constexpr std::int64_t kWhole = -1;

struct Rounds {
  std::vector<std::int64_t> began = {};  ///< when a place begins to send, or has received, first
  std::vector<std::int64_t> left = {};   ///< when it has sent its last chunk
  std::vector<std::int64_t> came = {};   ///< when it has received its last one
  bool operator==(const Rounds&) const = default;
};

/// Round by round, by definition: O(n^2). Who never sends or receives did so at its begin.
Rounds walked(const Circle& circle, const std::vector<std::int64_t>& begin);
/// Whether all chunks that are passed on at all are so in one way.
bool can_be_swept(const Circle& circle);
/// The same by paths. REQUIRES: it can be.
Rounds swept(const Circle& circle, const std::vector<std::int64_t>& begin);
/// By paths where that can be.
Rounds all_rounds(const Circle& circle, const std::vector<std::int64_t>& begin);

}  // namespace tw::regular
