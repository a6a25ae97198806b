// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/random.h"

#include "trainwire/base/error.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace tw {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream) : state_{} {
  std::uint64_t mix = seed ^ hash(stream);
  for (std::uint64_t& word : state_) word = split_mix(mix);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  check(bound > 0, "a random number needs a bound above 0");
  // Values at or above the largest multiple of `bound` would favour small remainders: draw again.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::exponential(double mean) { return -mean * std::log1p(-uniform()); }

double Random::normal() {
  // Box-Muller; its second value is dropped so that the stream has no hidden state.
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace tw
