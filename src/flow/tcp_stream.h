// SPDX-License-Identifier: Apache-2.0
// One direction of a TCP connection in sequence space: which bytes are new, repeated, late or
// missing.
//
// Sequence numbers are widened to 64-bit offsets from the first one seen, so wrap-around is nothing
// special. Bytes beyond the highest offset open a hole; later bytes that fill it are reordered or
// were lost before the point of capture and sent again; what stays open was not captured
// ("missing": capture loss). Bytes at known offsets are retransmissions. The stream begins at its
// SYN, or where the first segment seen begins, data or not; data from before a beginning without
// SYN is late, not repeated. A segment without data that is ahead of all data opens no hole (it may
// have overtaken the data), but what it is ahead by is missing if it never comes.
//
// Limits: remembers the 16 youngest holes; older ones count as missing for good. A segment that
// fills a hole within `kReorderNs` of the hole's opening is called reordered, a later one a
// retransmission (RFC 4653 discusses why no rule can be right always). A number more than 1 GiB,
// the largest window, behind is taken for one ahead: 3 GiB may be lost at once. A repeated last
// segment of one byte looks like a keep-alive and is taken for one.

#pragma once

#include <cstdint>
#include <vector>

namespace tw::flow {

/// What a segment's payload was, byte by byte. Sums to its length unless it was a keep-alive.
struct SegmentBytes {
  std::uint32_t in_order = 0;       ///< new and next, or beyond a hole
  std::uint32_t reordered = 0;      ///< fills a young hole
  std::uint32_t retransmitted = 0;  ///< known bytes again
  std::uint32_t recovered = 0;      ///< fills an old hole: sent again, seen for the first time
  bool keep_alive = false;  ///< probe of at most one byte below the next offset: carries nothing

  std::uint32_t fresh() const { return in_order + reordered + recovered; }
  bool operator==(const SegmentBytes&) const = default;
};

class TcpStream {
 public:
  static constexpr std::int64_t kReorderNs = 3'000'000;

  /// True, and the segment taken, when it is data that continues the stream: by far the most
  /// common, and all that the fast path knows.
  bool take_next(std::uint32_t sequence, std::uint32_t length) {
    if (sequence != next_sequence_ || !started_) return false;
    next_sequence_ += length;
    next_ += length;
    return true;
  }
  /// Takes a segment with `length` payload bytes. `syn` and `fin` occupy one number each.
  SegmentBytes take(std::int64_t time_ns, std::uint32_t sequence, std::uint32_t length, bool syn,
                    bool fin);

  /// What is asked of a stream that takes no more segments.
  struct Ended {
    bool started = false;
    bool anchored = false;
    std::uint32_t first_sequence = 0;
    std::uint32_t next_sequence = 0;
    std::uint64_t missing_bytes = 0;
    bool operator==(const Ended&) const = default;
  };
  Ended ended() const;
  explicit TcpStream(const Ended& ended);
  TcpStream() = default;

  /// Bytes of holes that are still open, or were given up, or were never followed by data.
  std::uint64_t missing_bytes() const;
  bool started() const { return started_; }
  /// The first number: of the SYN, or of the first segment seen.
  std::uint32_t first_sequence() const { return first_; }
  /// The number behind the highest byte seen.
  std::uint32_t next_sequence() const { return next_sequence_; }
  /// Whether the SYN with this number belongs to this stream: is its SYN, or lies right before it.
  bool begins_with(std::uint32_t syn_sequence) const {
    return syn_sequence + (anchored_ ? 0 : 1) == first_;
  }

 private:
  struct Hole {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t opened_ns;
  };
  void start(std::int64_t time_ns, std::uint32_t sequence, bool syn);
  std::int64_t offset_of(std::uint32_t sequence) const;
  void note_position(std::int64_t offset);
  SegmentBytes take_data(std::int64_t begin, std::int64_t end, std::int64_t time_ns);
  /// Sorts bytes [begin, end), all below next_, into those that fill holes and those already seen.
  SegmentBytes take_known(std::int64_t begin, std::int64_t end, std::int64_t time_ns);
  void open_hole(std::int64_t begin, std::int64_t end, std::int64_t time_ns);
  void give_up_oldest();
  void set_next(std::int64_t next);

  // What take_next() needs comes first: it fits 14 bytes of the table's hot cache lines.
  std::int64_t next_ = 0;  ///< offset behind the highest byte
  std::uint32_t next_sequence_ = 0;
  bool started_ = false;
  bool anchored_ = false;  ///< the SYN was seen: nothing lies before it
  std::uint32_t first_ = 0;
  std::int64_t lowest_ = 0;   ///< below 0 when data from before the first segment came late
  std::int64_t claimed_ = 0;  ///< highest position of a segment without data
  std::int64_t started_ns_ = 0;
  std::uint64_t given_up_ = 0;
  std::vector<Hole> holes_;
};

}  // namespace tw::flow
