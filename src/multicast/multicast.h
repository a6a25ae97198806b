// SPDX-License-Identifier: Apache-2.0
// A rank's groups: streams of bytes from one rank to several, as UDP datagrams to a group address,
// each once over every link, and again where somebody misses one.
//
// The rank sees streams that behave like TCP connections (send, receive, poll). Two threads carry
// them: one for what the rank sends, which waits where the host's queue is full, one for what it
// receives. How much is on its way, what is lost and when it is sent again is decided by
// group/sender.h and group/receiver.h, which simulations play too.
//
// Limits: as there, no congestion control: the window is what the paths hold. Switches that do not
// watch who joins (as emulated ones) send groups to every host.

#pragma once

#include "trainwire/multicast/options.h"
#include "trainwire/multicast/receiving.h"
#include "trainwire/multicast/sending.h"
#include "trainwire/os/file_descriptor.h"

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tw::multicast {

class Multicast {
 public:
  /// Joins and begins. Throws SystemError.
  Multicast(const Options& options, std::vector<Seat> seats);
  ~Multicast();
  Multicast(const Multicast&) = delete;
  Multicast& operator=(const Multicast&) = delete;

  /// From now on nothing is sent.
  void stop();
  /// By seat. REQUIRES: stopped.
  std::vector<Count> counts() const;

 private:
  struct Place {
    bool is_hub = false;
    std::size_t number = 0;  ///< among those
  };
  group::Time now() const;
  void send_all();
  void receive_all();

  std::int64_t begin_ns_;
  os::Pipe wake_;
  std::vector<Place> places_;  ///< by seat
  std::vector<std::unique_ptr<Sending>> sending_;
  std::vector<std::unique_ptr<Receiving>> receiving_;
  std::thread sender_;
  std::thread receiver_;
};

}  // namespace tw::multicast
