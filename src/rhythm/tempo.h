// SPDX-License-Identifier: Apache-2.0
// The common rhythm of several senders: in synchronous training all of them make a step at the same
// pace, whatever each of them sends.
//
// Every channel offers the distances that fit its byte stream (rhythm.h), each with the time that
// one takes. A tempo is such a time on which channels agree; pace.h says which of several is that
// of the steps. All candidates are tried on a bounded number of channels and bursts, from the
// middle of the capture; what is found there is then fitted to everything. So the cost beyond some
// 100,000 bursts is linear with a small factor.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/pace.h"
#include "trainwire/rhythm/rhythm.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

struct Member {
  std::size_t channel;  ///< number in the channels given
  std::uint64_t bytes;  ///< of one beat
  std::vector<Beat> beats;
};

struct Tempo {
  double period_ns;  ///< mean
  double share;      ///< of the bytes of all channels considered that lie in beats
  double dominance;  ///< share of the beats whose pause is longer than every pause inside
  double ratio;      ///< median of pause / longest pause inside
  std::vector<Member> members;
  std::optional<Alternative> alternative = {};
  double likeness = 0;    ///< share of the pauses inside beats that are at places common to them
  bool is_exact = false;  ///< beats hold everything, in equal amounts (pace.h)
};

/// The tempo of most bytes first, then the tempos of the channels that it leaves out.
class Tempos {
 public:
  /// `channels` must outlive this.
  Tempos(std::span<const Channel> channels, std::int64_t gap_ns);

  /// Bytes of the channels that no tempo has taken.
  double rest_bytes() const { return rest_bytes_; }
  /// Nothing when there is no other, or after four.
  std::optional<Tempo> next();
  /// Other tempos of the channels of the last one, at most four: which of them is that of the steps
  /// may show only in what the hosts do.
  std::vector<Tempo> rivals() const { return rivals_ ? rivals_() : std::vector<Tempo>{}; }

 private:
  std::span<const Channel> channels_;
  std::int64_t gap_ns_;
  std::vector<bool> taken_;
  std::size_t found_ = 0;
  double rest_bytes_ = 0;
  std::function<std::vector<Tempo>()> rivals_;
};

/// What a channel is known, or supposed, to send in one step.
struct ChannelDistance {
  std::size_t channel;  ///< number in the channels given
  double bytes;
};
/// The tempo at which each of these channels sends about so much, within 3 %; channels that do not
/// are left out. Nothing when all are.
std::optional<Tempo> tempo_at(std::span<const Channel> channels,
                              std::span<const ChannelDistance> distances, std::int64_t gap_ns);

/// The pace that a channel keeps by itself, whatever others do; nothing where no pauses stand out.
/// It tells the connections of one job from those of another on the same hosts.
struct OwnPace {
  struct Rest {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  double period_ns;  ///< mean
  std::size_t beats;
  std::vector<Rest> rests = {};  ///< the pauses between beats
};
std::optional<OwnPace> own_pace(const Channel& channel, std::int64_t gap_ns);

/// All of them.
std::vector<Tempo> find_tempos(std::span<const Channel> channels, std::int64_t gap_ns);

}  // namespace tw::rhythm
