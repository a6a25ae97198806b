// SPDX-License-Identifier: Apache-2.0
// Packets into flows: one pass, one hash look-up a packet, memory bounded by budgets and never by
// packets.
//
// A connection holds both directions, so that an acknowledgement finds the data it answers. The
// five-tuple is the key; the hash only indexes. A SYN that does not begin the connection at hand,
// or comes after `idle_ns` of silence, starts a new one, and so does UDP after that silence. RoCEv2
// flows are keyed by addresses and destination queue pair. Packets without ports (other IP, later
// fragments) are counted by pair and in the totals, as part of no flow.
//
// Memory. Connections that ended or fell silent and carried little (below `small_bytes` both ways)
// are retired when room is needed: counted by pair, handed to `retire`, and forgotten. At most
// `most_connections` (rounded up to a power of two) are alive; when that many are, the small ones
// that were silent longest are retired early, and if these are not enough `small_bytes` doubles. A
// retired five-tuple that speaks again is a new flow. Windows and bursts have budgets of their own:
// when one is passed, its resolution halves. With the defaults and any input the table stays below
// 250 MB: 65,536 connections of about 1.1 kB, 3 M windows of 8 bytes, 700,000 bursts of 32 bytes
// (vectors may hold twice that) and 250,000 pairs of 136 bytes.
//
// Limits: one table is one point of view (one capture file, or several that follow each other in
// time); vantage.h combines several. Round trips are what this point of view sees: captured at the
// receiver they are its turn-around times. Times
// before 1896 and after 2116 are taken for these (time_map.h).

#pragma once

#include "trainwire/flow/flow.h"
#include "trainwire/flow/hash.h"
#include "trainwire/flow/pair.h"
#include "trainwire/flow/psn.h"
#include "trainwire/packet/packet.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tw::flow {

struct TableOptions {
  std::int64_t window_ns = 1'000'000;
  std::int64_t burst_gap_ns = 500'000;
  std::int64_t idle_ns = 120'000'000'000;
  std::uint64_t small_bytes = 64 * 1024;
  std::size_t most_connections = 65'536;
  std::size_t most_windows = 3'000'000;  ///< in all series together, 8 bytes each
  std::size_t most_bursts = 700'000;     ///< in all flows together, 32 bytes each
  bool milestones = false;               ///< kept for the first connections, to compare captures
};

struct Totals {
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  std::array<std::uint64_t, packet::kVerdicts> by_verdict = {};
  std::uint64_t super_frames = 0;
  std::uint64_t backward_times = 0;  ///< packets stamped earlier than one before
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

class FlowTable {
 public:
  using Retire = std::function<void(const Flow&)>;
  explicit FlowTable(TableOptions options = {}, Retire retire = {});

  /// Packets of one point of view in capture order.
  void take(std::span<const packet::Packet> packets);
  /// Smaller budgets from now on, when several tables share the memory.
  void limit(std::size_t most_windows, std::size_t most_bursts);

  const Totals& totals() const { return totals_; }
  const Clock& clock() const { return clock_; }
  /// Pause that ends a burst: as asked, or doubled until the bursts fitted.
  std::int64_t burst_gap_ns() const { return burst_gap_ns_; }
  std::size_t live_connections() const { return live_; }
  /// Every directed flow that carried a packet and was not retired, in no order. The table takes no
  /// more packets.
  std::vector<Flow> finish();
  /// Complete after finish(), as are the series of all wire bytes.
  const PairTable& pairs() const { return pairs_; }
  const Series& series() const { return series_; }

 private:
  /// Endpoints as numbers: address and port. `kind`: protocol, and queue pair + 1 for RoCEv2.
  struct Ends {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t kind;
  };
  /// The window that is being filled. `begin_ns` is aligned; kNever when there is none.
  struct OpenWindow {
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
    std::int64_t begin_ns = kNever;
    std::uint64_t bytes = 0;
    std::uint32_t index = 0;
    /// Past all windows of the series. Kept here because the series' last window is seldom in the
    /// cache when the next one follows.
    std::uint32_t series_end = 0;
    bool add(std::int64_t time_ns, std::int64_t width_ns, std::uint32_t more) {
      const auto since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(begin_ns);
      if (since >= static_cast<std::uint64_t>(width_ns)) return false;
      bytes += more;
      return true;
    }
  };
  /// One direction while it lives. What every packet touches comes first and fills two cache lines;
  /// settle() moves it into `flow`.
  struct alignas(64) Lane {
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::int64_t last_ns = 0;
    OpenWindow window = {};
    std::uint64_t acknowledgement_packets = 0;
    Burst burst = {.start_ns = 0, .end_ns = 0, .bytes = 0, .packets = 0};  ///< open if it has any
    std::uint32_t largest_payload = 0;
    std::uint32_t ordinary_payload = 0;
    std::uint32_t full_packets = 0;
    bool may_join = false;  ///< the burst gap was widened since the last burst was closed
    TcpStream stream = {};
    std::array<PsnWindow, 2> psn = {};  ///< requests, responses
    Flow flow = {};
  };
  /// Data sent and not yet acknowledged, whose round trip is being timed.
  struct Sample {
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::int64_t sent_ns = kNone;
    std::uint32_t end_sequence = 0;
  };
  struct alignas(64) Connection {
    Ends ends = {0, 0, 0};
    std::array<Sample, 2> samples = {};
    bool in_use = false;
    bool tracked = false;  ///< milestones are kept
    std::array<Lane, 2> lanes = {};
  };
  struct Slot {
    Connection* connection = nullptr;  ///< null: free
    std::uint64_t hash = 0;
  };
  /// Packets that are looked up together, so that their connections are on the way to the cache
  /// when they are worked on.
  static constexpr std::size_t kTogether = 32;
  struct Place {
    Ends ends;
    std::uint64_t hash;
  };

  static Ends ends_of(const packet::Packet& packet);
  /// The same for both directions, so that both find one connection.
  std::uint64_t hash_of(const Ends& ends) const {
    const std::uint64_t low = std::min(ends.from, ends.to);
    const std::uint64_t high = std::max(ends.from, ends.to);
    return hash_(low ^ ends.kind << 48, high ^ ends.kind >> 16 << 48);
  }
  void look_up(std::span<const packet::Packet> packets, std::array<Place, kTogether>& places);
  /// Into the totals: quickly when the packets are all TCP, none from offload, in the order of
  /// time.
  void count(std::span<const packet::Packet> packets);
  void count_each(std::span<const packet::Packet> packets);
  void take_one(const packet::Packet& packet, const Place& place);
  void take_tcp(Connection& connection, std::size_t side, const packet::Packet& packet,
                std::int64_t time_ns);
  void take_odd_segment(Connection& connection, std::size_t side, const packet::Packet& packet,
                        std::int64_t time_ns);
  void take_rocev2(Connection& connection, const packet::Packet& packet, std::int64_t time_ns);
  void note_milestones(Flow& flow, const packet::Packet& packet, std::int64_t time_ns);
  void note_payload(Lane& lane, std::int64_t time_ns, std::uint32_t payload, std::uint32_t fresh);
  void close_burst(Lane& lane);
  void move_window(Series& series, OpenWindow& window, std::int64_t time_ns, std::uint64_t bytes);
  void close_window(Series& series, OpenWindow& window);

  static bool is_between(const Connection& connection, const Ends& ends, std::size_t& side);
  Connection& connection_of(const Place& place, std::size_t& side);
  Connection& open_connection(const Place& place);
  bool starts_anew(const Connection& connection, std::size_t side, const packet::Packet& packet,
                   std::int64_t time_ns) const;
  void start_anew(Connection& connection);
  void count_without_flow(const packet::Packet& packet);

  bool is_small(const Connection& connection) const;
  void settle(Lane& lane);
  void put_away(Connection& connection, bool keep_small);
  void retire(const Flow& flow);
  template <typename Wanted>
  void sweep(Wanted wanted);
  void make_room();
  void evict();
  void trim_finished();
  void index(Connection& connection, std::uint64_t hash);
  void index_anew(std::size_t slots);
  template <typename Visit>
  void for_each_flow(Visit visit);
  void fold_windows();
  void widen_bursts();

  TableOptions options_;
  Retire retire_;
  Hash hash_;
  Totals totals_;
  Clock clock_;
  std::int64_t burst_gap_ns_;
  OpenWindow window_;
  Series series_;
  PairTable pairs_;
  std::vector<Slot> slots_;
  std::deque<Connection> connections_;
  std::vector<Connection*> free_;  ///< those not in use
  std::size_t live_ = 0;
  Connection* latest_ = nullptr;  ///< of the last packet that has one
  std::vector<Flow> finished_;
  std::size_t windows_ = 0;
  std::size_t bursts_ = 0;
};

}  // namespace tw::flow
