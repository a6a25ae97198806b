// SPDX-License-Identifier: Apache-2.0
// The door of the server: it takes connections, reads each request's head, and hands
// on only connections whose head has come whole.
//
// It stands before the HTTP library because that one, before any handler is asked, keeps a thread
// for whoever connects, waits anew for each byte, and takes header lines without end. Here all of
// them share one thread; a head has a size and a time as a whole; and of too many that have not
// said what they want, the oldest goes: who asks at once is always heard.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <thread>

namespace tw::serve {

/// Where a server listens that this machine alone may ask.
inline constexpr const char* kLoopback = "127.0.0.1";

/// A connection whose request's head has come.
struct Arrival {
  os::FileDescriptor socket;  ///< does not block
  std::string bytes;          ///< the head, and what has come of the body with it
};

class Gate {
 public:
  struct Limits {
    std::size_t head_bytes = 64 * 1024;
    std::chrono::milliseconds head_time = std::chrono::seconds(5);
    std::size_t waiting = 128;  ///< connections whose head has not come
  };

  /// Listens from now on; port 0 takes a free one. Throws SystemError, SpecError for what is no address.
  Gate(const std::string& address, int port, const Limits& limits);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  /// Ends all connections that wait; `take` is not called any more.
  ~Gate();

  int port() const { return port_; }
  /// Lets them in from now on, once. `take` is called on the gate's thread and may not wait.
  void open(std::function<void(Arrival)> take);

 private:
  struct Waiting {
    os::FileDescriptor socket;
    std::chrono::steady_clock::time_point until;
    std::string bytes = {};
  };
  using Place = std::list<Waiting>::iterator;

  void work();
  void accept_all();
  /// Returns whether it waits on.
  bool read_on(Waiting& waiting);
  void refuse_late();
  int wait_ms() const;

  Limits limits_;
  std::function<void(Arrival)> take_ = {};
  os::FileDescriptor listening_;
  os::Pipe wake_;
  int port_ = 0;
  std::list<Waiting> waiting_ = {};  ///< oldest first
  std::jthread worker_ = {};         ///< last: it uses all of the above
};

}  // namespace tw::serve
