// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/state.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tw::learn {
namespace {

constexpr std::uint64_t kMagic = 0x31306e7261656c74;  // "tlearn01"

void append(std::vector<std::byte>& to, std::span<const std::byte> more) {
  to.insert(to.end(), more.begin(), more.end());
}

template <typename T>
void append_number(std::vector<std::byte>& to, T value) {
  append(to, std::as_bytes(std::span(&value, 1)));
}

/// Takes bytes from the front. Throws DataError when there are not as many.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : left_(bytes) {}

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) throw DataError("a training's state: ends too early");
    const auto taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  template <typename T>
  T number() {
    T value = {};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  bool is_empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace

std::vector<std::byte> to_bytes(const State& state) {
  std::vector<std::byte> bytes;
  append_number(bytes, kMagic);
  append_number(bytes, state.step);
  append_number(bytes, static_cast<std::uint64_t>(state.arrays.size()));
  for (const auto& [name, values] : state.arrays) {
    append_number(bytes, static_cast<std::uint64_t>(name.size()));
    append_number(bytes, static_cast<std::uint64_t>(values.size()));
    append(bytes, std::as_bytes(std::span(name)));
    append(bytes, std::as_bytes(std::span(values)));
  }
  return bytes;
}

State state_from(std::span<const std::byte> bytes) {
  Taker taker(bytes);
  if (taker.number<std::uint64_t>() != kMagic) throw DataError("a training's state: is none");
  State state{.step = taker.number<std::int64_t>(), .arrays = {}};
  const auto arrays = taker.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const auto letters = taker.number<std::uint64_t>();
    const auto count = taker.number<std::uint64_t>();
    const auto text = taker.take(letters);
    if (count > bytes.size()) throw DataError("a training's state: ends too early");
    const auto values = taker.take(count * sizeof(float));
    std::string name(text.size(), '\0');
    std::memcpy(name.data(), text.data(), text.size());
    std::vector<float>& array = state.arrays[name];
    array.resize(static_cast<std::size_t>(count));
    if (!values.empty()) std::memcpy(array.data(), values.data(), values.size());
  }
  if (!taker.is_empty()) throw DataError("a training's state: has bytes behind its end");
  return state;
}

void restore(const State& state, const std::string& name, std::span<float> into) {
  const auto found = state.arrays.find(name);
  if (found == state.arrays.end() || found->second.size() != into.size()) {
    throw DataError(
        fmt::format("a training's state: has {} values of {} where {} are needed: it is of "
                    "another model",
                    found == state.arrays.end() ? 0 : found->second.size(), name, into.size()));
  }
  std::ranges::copy(found->second, into.begin());
}

}  // namespace tw::learn
