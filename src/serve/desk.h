// SPDX-License-Identifier: Apache-2.0
// Connections that came through the gate (gate.h), answered by the HTTP library on a few threads, one
// request a connection. For server.cc and metrics.cc alone, which have the library's definitions.

#pragma once

#include "trainwire/serve/arrival_stream.h"
#include "trainwire/serve/gate.h"
#include "trainwire/serve/guard.h"

#include <httplib.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tw::serve {

std::vector<std::string> values(const auto& multimap, const std::string& key) {
  std::vector<std::string> found;
  const auto [begin, end] = multimap.equal_range(key);
  for (auto each = begin; each != end; ++each) found.push_back(each->second);
  return found;
}

RequestHead head_of(const httplib::Request& request);

class Desk {
 public:
  /// Listens from now on, and answers from open() on. Throws SystemError.
  Desk(const std::string& address, int port, std::size_t threads);
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() { close(); }

  int port() const { return port_; }
  /// To say what is answered, before open().
  httplib::Server& http() { return http_; }
  void open();
  /// Lets nobody in any more and cuts all off, so that nobody waits for a client that says nothing.
  void close();

 private:
  /// The library as what understands requests and finds their handlers.
  class Http : public httplib::Server {
   public:
    void answer(const Arrival& arrival);
  };
  /// Ended when they have done what they had to.
  struct Threads {
    explicit Threads(std::size_t count) : pool(count) {}
    ~Threads() { pool.shutdown(); }
    httplib::ThreadPool pool;
  };

  /// From the gate's thread.
  void take(Arrival arrival);
  /// False when there are too many, or the server ends.
  bool begin(int socket);
  void end(int socket);

  Http http_;
  std::mutex mutex_;
  bool ending_ = false;
  std::set<int> sockets_;  ///< that are answered or wait for it
  std::unique_ptr<Gate> gate_;
  int port_ = 0;
  Threads threads_;  ///< last: they use all of the above
};

}  // namespace tw::serve
