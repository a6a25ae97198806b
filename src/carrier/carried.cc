// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/carried.h"

#include "trainwire/base/error.h"
#include "trainwire/carrier/programs.h"
#include "trainwire/transport/tcp/patience.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <utility>

namespace tw::carrier {
namespace {

using nlohmann::json;

constexpr int kCannotRun = 127;
constexpr std::chrono::seconds kFarewell{5};

}  // namespace

Carried::Carried(const Carriage& carriage, Assignment assignment)
    : carriage_(carriage), assignment_(std::move(assignment)) {
  if (transport_named(carriage_.transport).starts_together) {
    contact_ = {::getpid(), meeting_.name()};
    return;
  }
  start({meeting_.name()});
  await();
  contact_ = hear().at("contact");
}

void Carried::start(const std::vector<std::string>& arguments) {
  std::vector<char*> words{carriage_.program.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  child_ = os::Child::start([&] {
    // The rank's own orders come over its standard input, and launchers read theirs.
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execv(words.front(), words.data());
    return kCannotRun;
  });
}

/// Until the carrier has come.
void Carried::await() {
  transport::tcp::Patience patience(assignment_.patience);
  while (!control_) {
    pollfd wait{.fd = meeting_.descriptor(), .events = POLLIN, .revents = 0};
    const bool patient = patience.wait(std::span(&wait, 1));
    auto [socket, pid] = meeting_.accept();
    if (socket.is_open()) {
      control_.emplace(std::move(socket));
      pid_ = pid;
      break;
    }
    const auto ending = child_.identity().pid > 0 ? child_.poll() : std::nullopt;
    if (ending && !ending->succeeded()) {
      throw Error(fmt::format("{} {} before it carried anything", carriage_.program,
                              os::describe(*ending)));
    }
    if (!patient) {
      throw Error(fmt::format("{} did not begin within {}", carriage_.program,
                              readable(assignment_.patience)));
    }
  }
  control_->send(to_json(assignment_));
}

json Carried::hear() const {
  pollfd wait{.fd = control_->descriptor(), .events = POLLIN, .revents = 0};
  transport::tcp::Patience patience(assignment_.patience);
  bool patient = true;
  while (patient && wait.revents == 0) patient = patience.wait(std::span(&wait, 1));
  if (!patient) {
    throw Error(
        fmt::format("{} was silent for {}", carriage_.program, readable(assignment_.patience)));
  }
  const std::optional<json> message = control_->poll();
  if (!message) throw Error(fmt::format("{} has ended", carriage_.program));
  if (message->contains("failed")) {
    throw Error(fmt::format("{} cannot carry: {}", transport_named(carriage_.transport).library,
                            message->at("failed").get<std::string>()));
  }
  return *message;
}

std::vector<transport::tcp::Connection> Carried::connect(const std::vector<Contact>& ranks) {
  if (!control_) {
    if (assignment_.rank == 0) {
      start({"launch", to_json(ranks).dump()});
    }
    await();
    hear();
  }
  control_->send({{"contacts", to_json(ranks)}});
  std::vector<transport::tcp::Connection> connections;
  for (const Wire& wire : assignment_.wires) {
    auto [ours, theirs] = make_stream();
    send_descriptor(control_->descriptor(), theirs);
    connections.push_back({.peer = wire.rank, .lane = wire.lane, .socket = std::move(ours)});
  }
  hear();
  return connections;
}

std::optional<std::string> Carried::failure() const {
  if (!control_) return {};
  const std::optional<json> message = control_->poll();
  if (!message || !message->contains("failed")) return {};
  return message->at("failed").get<std::string>();
}

void Carried::hold() {
  control_->send({{"hold", true}});
  hear();
}

std::vector<TcpCount> Carried::finish() {
  control_->send({{"stop", true}});
  std::vector<TcpCount> counts = tcp_counts_from(hear().at("tcp"));
  // A launcher waits for the carriers of all ranks, and tidies up.
  if (child_.is_running()) child_.wait_for(kFarewell);
  return counts;
}

std::int64_t Carried::cpu_ns() const {
  clockid_t clock = 0;
  timespec time = {};
  if (pid_ == 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace tw::carrier
