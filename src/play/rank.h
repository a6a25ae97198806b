// SPDX-License-Identifier: Apache-2.0
// One rank of a player: where it stands in its script and its exchanges.

#pragma once

#include "trainwire/play/player.h"
#include "trainwire/play/turns.h"
#include "trainwire/workload/compute_clock.h"
#include "trainwire/workload/parts.h"
#include "trainwire/workload/script.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace tw::play {

class Rank {
 public:
  /// No exchanges where ranks draw their peers. REQUIRES: training, driver and turns outlive it.
  Rank(const workload::Training& training, const workload::Exchanges* exchanges,
       const Driver& driver, int rank, Turns& turns);

  void begin(Duration now);
  void woke(Duration now);
  void left(const Message& message, Duration now);
  void came(const Message& message, Duration now);
  void began(const Message& message, std::uint64_t as, Duration now);
  bool done() const { return done_; }

 private:
  /// A bucket that is to be exchanged, or the first model.
  struct Order {
    std::int64_t step;
    workload::Parts* parts;
  };
  /// A message whose first bytes are there.
  struct Coming {
    Message message;
    std::uint64_t as;  ///< the driver's name for it
  };
  /// A part of the active exchange that is being received.
  struct Receiving {
    int part;
    std::uint64_t as;
  };
  /// A connection to a peer.
  struct Line {
    workload::Wire wire;
    std::size_t next_send = 0;
    std::size_t next_receive = 0;
    bool busy = false;  ///< something is leaving
    // Few at a time; an empty vector takes no memory, an empty deque half a kilobyte.
    std::vector<Message> came = {};
    std::vector<Coming> coming = {};
    int send_gate = -1;     ///< what its next send was seen to wait for
    int receive_gate = -1;  ///< and its next receive
    int reading = -1;       ///< the part that is read, or was last
  };

  void proceed(Duration now);
  bool carry_out(const workload::Act& act, Duration now);
  bool compute_until(std::int64_t at_ns, Duration now);
  bool need(int bucket, Duration now);
  bool agree();
  bool pull();
  bool serve(Duration now);
  void begin_step(Duration now);
  void end_step(Duration now);

  /// Parts that have bytes.
  static std::size_t moving(const workload::Parts& parts);
  static Message message_of(const workload::Parts& parts, const workload::Part& part,
                            const workload::Wire& wire, std::int64_t step);
  bool exchange(Duration now);
  std::vector<Order>::iterator next_order();
  bool look_at_all(Duration now);
  bool look_at_stirred(Duration now);
  bool has_few_lines() const;
  void ended(int part);
  void wait_at(const workload::Part& part, std::size_t line, int& seen);
  bool send_next(Line& line, std::size_t at);
  bool receive_next(Line& line, std::size_t at, Duration now);
  bool begin_receiving(const Line& line, int number);
  void read(Line& line, int number);
  bool passes_through() const;
  bool may_begin(const workload::Part& part);
  bool is_leaving(int number) const;
  bool idle() const { return orders_.empty() && active_ == nullptr; }
  void tell(const Message& message, Duration now) const;
  Line& line_to(int peer, int lane);

  const workload::Training& training_;
  const Driver& driver_;
  int rank_;
  Turns& turns_;
  std::size_t turn_ = 0;       ///< how often it had one
  Duration needs_since_ = {};  ///< the bucket that the present act needs
  std::vector<workload::Act> script_;
  std::int64_t repeats_;
  std::int64_t round_ = 0;  ///< how often the script was done
  std::size_t act_ = 0;
  bool entered_ = false;  ///< the present act has been begun
  bool started_ = false;  ///< the first model is there
  bool done_ = false;
  Duration step_begin_ = {};
  workload::ComputeClock clock_;

  std::vector<Line> lines_;
  std::vector<workload::Parts> start_;
  std::vector<workload::Parts> buckets_;
  std::vector<Order> orders_;
  workload::Parts* active_ = nullptr;
  std::int64_t active_step_ = 0;
  std::size_t left_ = 0;  ///< parts of the active exchange that have not ended
  // A rank with many lines looks at those again on which something has happened, or whose gate has
  // opened, and at a gate when the part has ended by which it is closed.
  std::vector<std::size_t> stirred_;                                 ///< lines
  std::unordered_map<int, std::vector<int>> gates_at_;               ///< by part
  std::unordered_map<int, std::vector<std::size_t>> lines_at_gate_;  ///< by gate
  std::vector<Receiving> receiving_;
  std::vector<std::uint64_t> behind_;  ///< what the part that was last asked about has to follow

  std::map<int, std::int64_t> heard_;  ///< side messages of each peer
  std::int64_t agreed_ = 0;            ///< how often it has agreed
  bool pulled_ = false;
  std::int64_t unserved_ = 0;  ///< answers that an asynchronous server still has to give
};

}  // namespace tw::play
