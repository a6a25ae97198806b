// SPDX-License-Identifier: Apache-2.0
#include "trainwire/checkpoint/checkpoint.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tw::checkpoint {
namespace {

constexpr std::string_view kMagic = "twckpt01";
constexpr std::size_t kStepAt = 8;
constexpr std::size_t kSeedAt = 16;
constexpr std::size_t kSizeAt = 24;
constexpr std::size_t kSumAt = 32;

std::uint64_t mixed(std::uint64_t sum, std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    // The upper half is folded down: a product alone never carries it there.
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32;
  }
  for (; at < bytes.size(); ++at) sum = (sum ^ static_cast<std::uint8_t>(bytes[at])) * kPrime;
  return sum;
}

std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  return mixed(mixed(kBasis, bytes.substr(0, kSumAt)), bytes.substr(kHeaderBytes));
}

template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <typename T>
T get(std::string_view bytes, std::size_t at) {
  T value = {};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  const std::size_t size = checkpoint.state.size() * sizeof(float);
  std::string bytes(kHeaderBytes + size, '\0');
  kMagic.copy(bytes.data(), kMagic.size());
  put(bytes, kStepAt, checkpoint.step);
  put(bytes, kSeedAt, checkpoint.seed);
  put(bytes, kSizeAt, static_cast<std::uint64_t>(size));
  if (size > 0) std::memcpy(bytes.data() + kHeaderBytes, checkpoint.state.data(), size);
  put(bytes, kSumAt, checksum(bytes));
  return bytes;
}

std::string problem(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return fmt::format("it ends after {} of at least {} bytes", bytes.size(), kHeaderBytes);
  }
  if (bytes.substr(0, kMagic.size()) != kMagic) return "it does not begin as one";
  const auto size = get<std::uint64_t>(bytes, kSizeAt);
  const std::size_t held = bytes.size() - kHeaderBytes;
  if (size % sizeof(float) != 0) return fmt::format("{} bytes of state are no whole numbers", size);
  if (size > held) return fmt::format("it ends after {} of {} bytes of state", held, size);
  if (size < held) return fmt::format("{} bytes follow its end", held - size);
  if (get<std::uint64_t>(bytes, kSumAt) != checksum(bytes)) return "its checksum is wrong";
  return {};
}

Checkpoint decode(std::string_view bytes) {
  if (const std::string why = problem(bytes); !why.empty()) {
    throw DataError(fmt::format("reading a checkpoint: {}", why));
  }
  Checkpoint checkpoint{.step = get<std::int64_t>(bytes, kStepAt),
                        .seed = get<std::uint64_t>(bytes, kSeedAt)};
  checkpoint.state.resize((bytes.size() - kHeaderBytes) / sizeof(float));
  if (!checkpoint.state.empty()) {
    std::memcpy(checkpoint.state.data(), bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes);
  }
  return checkpoint;
}

}  // namespace tw::checkpoint
