// SPDX-License-Identifier: Apache-2.0
// One thread that plays its share of a load over TCP.
//
// Every connection is in an epoll set, edge-triggered, from its opening to its end, so that a flow
// costs three calls to the kernel: send, wait, receive. Connections that may send take turns of
// one write each.

#pragma once

#include "trainwire/base/pace.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/traffic/feed.h"
#include "trainwire/traffic/generator.h"
#include "trainwire/traffic/line.h"
#include "trainwire/traffic/stop_signal.h"
#include "trainwire/traffic/tally.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tw::traffic {

/// What the threads of a generator share. Outlives them; constant while they play.
struct PlayOrders {
  SourceTask task;
  std::vector<Destination> destinations;
  bool drain = false;
  std::size_t most_lines = 4096;  ///< of one thread
  FlowLog* log = nullptr;         ///< none when null
};

class Player {
 public:
  Player(const PlayOrders& orders, StopSignal& stop, Share share);
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Flows to play; not for long ones.
  void feed(Feed feed) { feed_.emplace(std::move(feed)); }
  /// Opens connections in advance. Throws SystemError.
  void connect();
  /// Plays, beginning at that time, until the load is over or the stop signal. Failures go to the
  /// signal; never throws.
  void play(std::int64_t begin_ns);

  const Tally& tally() const { return tally_; }
  /// When the time that rates are over ended, and when everything did. REQUIRES: play() returned.
  std::int64_t end_ns() const { return end_ns_; }
  std::int64_t last_ns() const { return last_ns_; }

 private:
  /// A long flow.
  struct PacedLine {
    Line* line;
    Pace pace;
  };
  void loop();
  bool is_due(std::int64_t now) const;
  void launch_due(std::int64_t now);
  bool has_room() const;
  void launch(const DueFlow& due, std::int64_t now);
  std::size_t destination_of(const load::Flow& flow) const;
  Line* idle_line(std::size_t destination);
  Line& open(std::size_t destination);
  void watch(Line& line);
  void start_long();
  void pace(std::int64_t now);
  std::int64_t next_time() const;
  void wait(std::int64_t now);
  void take_events(std::int64_t patience_ns);
  void take_event(Line& line, std::uint32_t events);
  void take_answer(Line& line);
  void queue(Line& line);
  void serve_queue();
  void finish_flow(Line& line);
  void broken(const Line& line, int code);
  void close(Line& line);
  bool is_over() const;
  std::int64_t acknowledged_now() const;
  void settle(std::int64_t now);
  void conclude();
  void count_unstarted();

  const PlayOrders& orders_;
  StopSignal& stop_;
  Share share_;
  os::FileDescriptor epoll_;
  std::optional<Feed> feed_ = {};
  std::optional<DueFlow> next_ = {};
  std::unordered_map<Line*, std::unique_ptr<Line>> lines_ = {};
  std::vector<std::vector<Line*>> idle_;  ///< by destination, the warmest last
  std::deque<Line*> queue_ = {};          ///< may send now
  std::vector<PacedLine> paced_ = {};
  std::size_t busy_ = 0;        ///< lines with a flow
  std::size_t connecting_ = 0;  ///< lines whose handshake is under way
  Tally tally_ = {};
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t last_ns_ = 0;
  bool settled_ = false;
};

}  // namespace tw::traffic
