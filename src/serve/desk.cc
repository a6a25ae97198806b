// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/desk.h"

#include <sys/socket.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace tw::serve {
namespace {

constexpr std::size_t kMostAnswered = 256;
/// For each part of a body to come, and of an answer to be taken.
constexpr std::chrono::seconds kPatience(5);

}  // namespace

RequestHead head_of(const httplib::Request& request) {
  const std::vector<std::string> origins = values(request.headers, "Origin");
  RequestHead head{.method = request.method,
                   .path = request.path,
                   .hosts = values(request.headers, "Host"),
                   .fetch_site = request.get_header_value("Sec-Fetch-Site"),
                   .header_token = request.get_header_value("X-Trainwire-Token"),
                   .query_token = request.get_param_value("token")};
  if (!origins.empty()) head.origin = origins.front();
  constexpr std::string_view kBearer = "Bearer ";
  const std::string authorization = request.get_header_value("Authorization");
  if (authorization.starts_with(kBearer)) head.bearer_token = authorization.substr(kBearer.size());
  return head;
}

void Desk::Http::answer(const Arrival& arrival) {
  ArrivalStream stream(arrival, kPatience);
  bool closed = false;
  process_request(stream, true, closed, nullptr);
  ::shutdown(arrival.socket.get(), SHUT_RDWR);
}

Desk::Desk(const std::string& address, int port, std::size_t threads)
    : gate_(std::make_unique<Gate>(address, port, Gate::Limits{})),
      port_(gate_->port()),
      threads_(threads) {}

void Desk::open() {
  gate_->open([this](Arrival arrival) { take(std::move(arrival)); });
}

void Desk::close() {
  gate_.reset();
  const std::lock_guard lock(mutex_);
  ending_ = true;
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
}

void Desk::take(Arrival arrival) {
  const auto one = std::make_shared<Arrival>(std::move(arrival));
  const int socket = one->socket.get();
  if (!begin(socket)) return;
  threads_.pool.enqueue([this, one, socket] {
    http_.answer(*one);
    end(socket);
  });
}

bool Desk::begin(int socket) {
  const std::lock_guard lock(mutex_);
  if (ending_ || sockets_.size() >= kMostAnswered) return false;
  sockets_.insert(socket);
  return true;
}

void Desk::end(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
}

}  // namespace tw::serve
