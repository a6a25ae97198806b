// SPDX-License-Identifier: Apache-2.0
// One entry of cross traffic played over a simulated network, as traffic/player.h plays it over
// sockets: flows start at their time, each takes a connection that is idle or a new one, and ends
// when the other end's answer is back.
//
// A new connection costs a round trip before its first byte; without reuse each flow has its own.
// `long` sends without end over its connections, each at its part of the rate; `constant` sends
// datagrams that nothing slows down.
//
// Limits: hellos and answers have no bytes; a long flow that was held up does not make up for it.

#pragma once

#include "trainwire/load/completion_times.h"
#include "trainwire/load/entry.h"
#include "trainwire/load/outcome.h"
#include "trainwire/medium/medium.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::sim {

/// A flow as it went.
struct CrossFlow {
  std::uint64_t number = 0;
  Duration due = {};
  Duration start = {};
  std::optional<Duration> end = {};  ///< nothing when it has not finished
  std::int64_t bytes = 0;
  std::int64_t acknowledged = 0;
};

class TrafficSource {
 public:
  /// Its tags are `tags` and the 2^32 after it. REQUIRES: the medium outlives it.
  TrafficSource(const load::Entry& entry, const spec::Experiment& experiment,
                medium::Medium& medium, medium::Tag tags);

  /// When it has to be told the time next; nothing: not by itself.
  std::optional<Duration> next() const;
  void advance(Duration now);
  void left(medium::Tag tag, Duration now);
  void came(medium::Tag tag, Duration now);
  /// Now if it was not over before.
  void end(Duration now);
  bool is_over() const { return over_; }

  const load::Entry& entry() const { return entry_; }
  /// Nothing when it was silent. REQUIRES: it is over.
  std::optional<load::Outcome> outcome() const;
  const std::vector<CrossFlow>& flows() const { return flows_; }

 private:
  enum class Phase { Free, Greeting, Greeted, Flowing, Answering };
  /// A connection, and the flow on it.
  struct Line {
    int connection = -1;
    Phase phase = Phase::Free;
    CrossFlow flow = {};
    std::int64_t before = 0;  ///< bytes that came over it before this flow
    medium::Tag pieces = 0;   ///< of a flow without end, sent
  };
  /// Of a tag: these bits number lines, those above pieces, of which several travel at a time.
  static constexpr int kPieceShift = 20;
  std::size_t line_of(medium::Tag tag) const {
    return static_cast<std::size_t>((tag - tags_) & ((medium::Tag{1} << kPieceShift) - 1));
  }
  medium::Tag tag_of(std::size_t line) const { return tags_ + line; }

  void draw();
  void begin(Duration now);
  void begin_endless(Duration now);
  void send_piece(std::size_t line, Duration now);
  void launch_due(Duration now);
  void launch(std::size_t line, Duration now);
  void finish(std::size_t line, Duration now);
  std::optional<std::size_t> take_line();
  std::int64_t come_of(const Line& line, Duration now) const;
  void settle(Line& line, Duration now);
  void count_unstarted(Duration now);
  bool is_endless() const;

  load::Entry entry_;
  medium::Medium& medium_;
  medium::Tag tags_;
  Duration begin_;
  medium::Sending sending_;  ///< but for pace and manner of flows without end
  bool reuse_;
  int endless_flows_;
  std::int64_t datagram_bytes_;
  std::optional<load::FlowStream> stream_ = {};  ///< computed flows
  std::size_t listed_ = 0;                       ///< how many of the list have been drawn
  std::optional<load::Flow> drawn_ = {};         ///< the flow that is due next
  std::uint64_t count_ = 0;                      ///< flows launched
  std::vector<Line> lines_ = {};
  std::vector<std::size_t> idle_ = {};  ///< connected, the last used last
  std::vector<std::size_t> free_ = {};  ///< not connected
  int hello_ = -1;                      ///< a connection there, for words of no bytes
  int answer_ = -1;                     ///< and back
  std::vector<CrossFlow> flows_ = {};
  load::CompletionTimes times_ = {};
  load::TimeHistogram lateness_ = {};
  load::Outcome outcome_ = {};
  std::int64_t offered_ = 0;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace tw::sim
