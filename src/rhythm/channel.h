// SPDX-License-Identifier: Apache-2.0
// What one host sends another, as iteration finding sees it: a flow, or all flows of a pair.

#pragma once

#include "trainwire/gather/captured.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace tw::rhythm {

/// What was found in the bursts of a channel, by how many they are, when they begin and end, and their bytes: a
/// channel is looked at alone, with its pair, and in each part of its group.
class KnownDistances {
 public:
  /// As `find` has it, which is called once for such bursts.
  std::vector<double> of(std::span<const flow::Burst> bursts,
                         const std::function<std::vector<double>()>& find);

 private:
  using Signature = std::tuple<std::size_t, std::int64_t, std::int64_t, std::uint64_t>;

  std::mutex mutex_;
  std::map<Signature, std::vector<double>> known_;
};

/// Whether the capture holds the channel's first byte.
enum class Beginning { Seen, Unknown };

struct Channel {
  int from;  ///< hosts
  int to;
  std::vector<std::size_t> flows;   ///< numbers in Traffic::flows
  std::vector<flow::Burst> bursts;  ///< in time order; of several flows: joined where they overlap
  std::uint64_t bytes;
  Beginning beginning = Beginning::Unknown;
  std::int64_t round_trip_ns = 0;  ///< the shortest; 0: unknown
  bool saw_all_begin = false;      ///< every flow of it
  /// Of rhythm.h; shared because copies of a channel have the same bursts.
  std::shared_ptr<KnownDistances> distances = std::make_shared<KnownDistances>();
};

double bytes_of(std::span<const Channel> channels);

/// One for each flow that carries at least a thousandth of what the largest carries. `host_of` is
/// indexed by address number.
std::vector<Channel> flow_channels(const gather::Captured& traffic,
                                   const std::vector<int>& host_of);

/// The same flows, those of a directed host pair taken together.
std::vector<Channel> pair_channels(const std::vector<Channel>& flows, std::int64_t gap_ns);

/// The same channels without the pauses between packets that a slow link makes: 80 Mbit/s take
/// 0.6 ms for what one acknowledgement sets free, which is longer than the gap between bursts.
/// Channels that send small bursts nearly all the time have those joined whose gap is of the usual
/// length. Nothing when there are none.
///
/// Limits: steps that send only a few packets each look the same. They are left alone where nothing
/// but a few bursts would remain, unless another channel shows that its like sends in larger ones.
std::optional<std::vector<Channel>> without_spacing(std::span<const Channel> channels);

}  // namespace tw::rhythm
