// SPDX-License-Identifier: Apache-2.0
// The rhythm of one sender: how many bytes it sends between two long pauses, again and again.
//
// A rank sends all of step k before it sends anything of step k+1, and every step moves the same
// bytes. So in the byte stream of a channel the pauses between steps lie at equal distances, to a
// fraction of a percent, however much the steps differ in time, and although there are other pauses
// between the rounds of a collective and between buckets. Rhythm is therefore looked for in bytes,
// not in time:
//
//   bytes   |------ B ------|------ B ------|------ B ------|
//   pauses  ^   .    . .    ^  .  .    .    ^    .  . .  .  ^
//
// Where there are several long pauses in each step, the step begins after the quiet one, in which
// its host also receives nothing: who waits for others goes on when their data comes, who computes
// goes on by himself. What remains of a wait counts a tenth, for the root of a tree never begins by
// itself. Where quiet pauses do not stand out at all, because nobody computes for long, the longest
// ones are taken as they are.
//
// Buckets and layers of different sizes leave a second sign: the pauses inside a step are at the
// same places in every step, or some of them are, where now and then one is too short to be seen.
// Where these places do not divide the step evenly, nothing shorter than the step repeats, and it
// needs no longer pause before it.
//
// A stream has several distances that fit: rounds of equal chunks are a divisor of the step, two
// steps a multiple. tempo.h decides between them, with the help of the other senders.
//
// Limits: needs three repetitions. A pause that is no longer than the table's burst gap cannot be
// seen; two missing ones in a row are bridged, more at the ends. Bytes that the capture lost break
// the chain at that place only.

#pragma once

#include "trainwire/flow/flow.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/pause_chain.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

inline constexpr double kAlways = 0.85;  ///< of the beats: pauses that belong to a place

/// One repetition, from its first to its last byte. Messages that are small against the rest are
/// part of the pause.
struct Beat {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
  std::size_t first_burst;  ///< [first_burst, end_burst) of the channel
  std::size_t end_burst;
  bool fits;  ///< false: a stretch between two beats whose bytes do not fit
};

/// How well one distance explains the stream.
struct RhythmFit {
  double bytes = 0;  ///< the distance
  std::vector<ChainLink> links = {};
  std::size_t beats = 0;  ///< links of exactly one distance
  double coverage = 0;    ///< share of the stream's bytes inside links that fit
  double period_ns = 0;   ///< mean time for one distance, without those at the stream's ends
  double typical_ns =
      0;                ///< the same, median: start-up, and what only some do then, does not count
  double whole_ns = 0;  ///< the same from the first to the last byte of all links
  double busy = 0;      ///< share of the time from the first to the last byte of beats
  /// How the pauses before beats compare with the longest inside them.
  struct Comparison {
    std::size_t compared = 0;  ///< beats
    std::size_t dominant = 0;  ///< of these, with a pause longer than every one inside
    double ratio = 0;          ///< median of pause / longest pause inside
  };
  Comparison pauses = {};  ///< as they are
  Comparison quiet = {};   ///< as far as nothing was received
  /// Share of the pauses inside beats that are at places where other beats pause too: of the long
  /// ones, or of all, whichever tells more. 0 where there are hardly any, or all places divide the
  /// distance evenly: rounds do so too.
  double likeness = 0;
  /// Share of the beats that pause at a place where others do, on average: where two kinds of beats
  /// alternate, a half. 0: unknown.
  double constancy = 0;
  /// Of the pauses that there should be, how many are seen; 1 where none is expected.
  double seen = 1;
  /// Of beats that a pause parts into halves: when the longer of the two pauses, on the whole, ended,
  /// and how much longer than the other it is. Nothing where there are hardly any.
  struct Halves {
    std::vector<double> resumed_ns = {};  ///< rising
    double longer_ns = 0;
  };
  Halves halves = {};
};

class ByteStream {
 public:
  /// `received` are bursts of data that the sender gets, in time order. `gap_ns` is the pause that
  /// separates bursts: shorter ones are invisible. `channel` must outlive this.
  ByteStream(const Channel& channel, std::span<const flow::Burst> received, std::int64_t gap_ns);

  std::uint64_t bytes() const { return bytes_; }
  /// Distances that recur between pauses, rising, no two nearly equal. Cost: O(pauses) for each of
  /// some hundred combinations, on at most 1,500 pauses.
  std::vector<double> guess_distances() const {
    return known_->of(bursts_, [&] { return find_distances(); });
  }
  /// Cost O(pauses).
  RhythmFit fit(double distance) const;
  /// A stream that never pauses, behind a slow link, in equal parts: nothing unless it is a
  /// multiple of the distance.
  std::optional<RhythmFit> even_fit(double distance) const;
  std::vector<Beat> beats(const RhythmFit& fit) const;
  /// Length in ns of the pause at every multiple of `distance` from one of the fit's on, both ways;
  /// 0 where none is seen. The ends of the stream are left out.
  std::vector<double> pauses_at(const RhythmFit& fit) const;

 private:
  std::vector<double> find_distances() const;
  void set_worths(double Pause::*length, double Pause::*worth_of);
  std::vector<ChainLink> chain_at(double distance, double Pause::*worth) const;
  RhythmFit fit_by(double distance, double Pause::*worth) const;
  double covered_bytes(const std::vector<ChainLink>& links) const;
  double typical_gap(const std::vector<ChainLink>& links) const;
  double busy_share(const std::vector<ChainLink>& links) const;
  double whole_time(const std::vector<ChainLink>& links) const;
  RhythmFit::Comparison compare(const RhythmFit& fit, double Pause::*length) const;
  struct Likeness {
    double share = 0;
    double constancy = 0;
  };
  Likeness likeness_of(const RhythmFit& fit, double least_ns, double off) const;
  RhythmFit::Halves halves_of(const RhythmFit& fit) const;
  std::vector<double> cuts(double least_ns) const;
  void append_beats(std::vector<Beat>& beats, const ChainLink& link) const;

  std::span<const flow::Burst> bursts_;
  std::shared_ptr<KnownDistances> known_;
  Beginning beginning_;
  double gap_ns_;
  std::uint64_t bytes_ = 0;
  std::uint64_t least_burst_ = 0;  ///< smaller bursts do not end a pause
  std::vector<Pause> pauses_;
};

}  // namespace tw::rhythm
