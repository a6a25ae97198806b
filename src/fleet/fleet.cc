// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/fleet.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/fleet/members.h"
#include "trainwire/os/clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace tw::fleet {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kLook = milliseconds(5);
constexpr std::int64_t kAliveNs = 1'000'000'000;
constexpr std::int64_t kLongestSilenceNs = 10'000'000'000;
constexpr Duration kLongestAnswer = seconds(15);
constexpr Duration kLongestFarewell = seconds(3);

std::int64_t after(Duration time) { return os::monotonic_ns() + time.count(); }

watch::LinkCounters counters_from(const json& d) {
  return {.received_bytes = d.at("received_bytes").get<std::uint64_t>(),
          .received_packets = d.at("received_packets").get<std::uint64_t>(),
          .received_dropped = d.at("received_dropped").get<std::uint64_t>(),
          .sent_bytes = d.at("sent_bytes").get<std::uint64_t>(),
          .sent_packets = d.at("sent_packets").get<std::uint64_t>(),
          .sent_dropped = d.at("sent_dropped").get<std::uint64_t>()};
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && !name.starts_with('.');
}

}  // namespace

class Fleet::Remote final : public Process {
 public:
  Remote(Fleet& fleet, Running& running) : fleet_(fleet), running_(running) {}
  const os::ProcessIdentity& identity() const override { return nobody_; }
  std::optional<os::Ending> poll() override { return running_.ending; }
  std::optional<os::Ending> wait_for(std::chrono::nanoseconds time) override {
    const std::int64_t limit = os::monotonic_ns() + time.count();
    fleet_.attend();
    while (!running_.ending && os::monotonic_ns() < limit) {
      std::this_thread::sleep_for(kLook);
      fleet_.attend();
    }
    return running_.ending;
  }
  void signal(int number) override {
    fleet_.members_[running_.host]->link.send(
        Frame{.channel = running_.number, .content = json{{"signal", number}}.dump()});
    fleet_.attend();
  }
  os::Ending stop(std::chrono::nanoseconds grace) override {
    if (!running_.ending && grace.count() > 0) {
      signal(SIGTERM);
      wait_for(grace);
    }
    if (!running_.ending) {
      signal(SIGKILL);
      wait_for(seconds(1));
    }
    return running_.ending.value_or(os::Ending{.signal = SIGKILL});
  }

 private:
  Fleet& fleet_;
  Running& running_;
  os::ProcessIdentity nobody_;
};

Fleet::~Fleet() {
  for (auto& member : members_) {
    if (!member || !member->link.is_open()) continue;
    member->link.send(json{{"leave", true}});
    member->link.flush(seconds(1));
    member->link.close();
  }
  listener_ = {};
  const std::int64_t limit = after(kLongestFarewell);
  for (Launcher& launcher : launchers_) {
    launcher.child.wait_for(
        std::chrono::nanoseconds(std::max<std::int64_t>(limit - os::monotonic_ns(), 0)));
    launcher.child.stop(seconds(1));
  }
}

void Fleet::begin(const BeginOptions& options) {
  folder_ = options.folder;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    json orders{{"folder", options.folder},
                {"captures", options.captures},
                {"snap_length", options.snap_length}};
    if (i < options.shapes.size()) orders["shape"] = to_json(options.shapes[i]);
    members_[i]->refuses = false;
    members_[i]->link.send(json{{"begin", std::move(orders)}});
  }
  wait_for_all([](const Member& member) { return member.begun; }, kLongestAnswer);
  if (failure_) throw Error(*failure_);
}

std::unique_ptr<Process> Fleet::start(int host, Orders orders, int control) {
  auto running = std::make_unique<Running>();
  running->host = static_cast<std::size_t>(host);
  running->number = static_cast<std::uint32_t>(running_.size());
  orders.has_control = control >= 0;
  if (control >= 0) {
    running->control = os::FileDescriptor(::fcntl(control, F_DUPFD_CLOEXEC, 3));
  }
  Member& member = *members_[running->host];
  if (!member.link.is_open()) running->ending = os::Ending{.signal = SIGKILL};
  member.link.send(
      Frame{.channel = running->number, .content = json{{"start", to_json(orders)}}.dump()});
  member.link.pump();
  running_.push_back(std::move(running));
  return std::make_unique<Remote>(*this, *running_.back());
}

void Fleet::attend() {
  const std::int64_t now = os::monotonic_ns();
  const bool tells = now - told_ns_ > kAliveNs;
  if (tells) told_ns_ = now;
  for (auto& running : running_) relay(*running);
  for (auto& member : members_) {
    if (tells) member->link.send(json{{"alive", true}});
    look_at(*member);
  }
  for (auto& running : running_) relay(*running);
}

/// What the run says to the process, and what the process has said.
void Fleet::relay(Running& running) {
  if (!running.control.is_open()) return;
  while (!running.waiting.empty()) {
    const std::string& text = running.waiting.front();
    const auto sent =
        ::send(running.control.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
    running.waiting.pop_front();
  }
  for (;;) {
    const ssize_t count = ::recv(running.control.get(), room_.data(), room_.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    members_[running.host]->link.send(
        Frame{.kind = FrameKind::Control,
              .channel = running.number,
              .content = room_.substr(0, static_cast<std::size_t>(count))});
  }
  if (running.ending && running.waiting.empty()) running.control = {};
}

void Fleet::look_at(Member& member) {
  member.link.pump();
  try {
    while (const auto frame = member.link.next()) take(member, *frame);
  } catch (const Error& error) {  // a message that is none, or a file that cannot be written
    member.link.close();
    fail(member, error.what());
  } catch (const json::exception& error) {
    member.link.close();
    fail(member, error.what());
  }
  if (member.finished || member.gone) return;
  if (!member.link.is_open()) {
    fail(member, "its connection to the run has ended");
  } else if (os::monotonic_ns() - member.link.heard_ns() > kLongestSilenceNs) {
    member.link.close();
    fail(member, fmt::format("it has been silent for {}", readable(Duration(kLongestSilenceNs))));
  }
}

void Fleet::fail(const Member& member, const std::string& why) {
  const auto at = std::ranges::find_if(members_, [&](const auto& m) { return m.get() == &member; });
  const auto number = static_cast<std::size_t>(at - members_.begin());
  if (!failure_) {
    failure_ = fmt::format("{} ({}): {}", member.who.name, member.who.address, printable(why));
  }
  if (member.link.is_open()) return;
  members_[number]->gone = true;
  for (auto& running : running_) {
    if (running->host == number && !running->ending)
      running->ending = os::Ending{.signal = SIGKILL};
  }
}

void Fleet::take(Member& member, const Frame& frame) {
  const auto own = [&]() -> Running* {  // a host speaks for its own processes alone
    if (frame.channel >= running_.size()) return nullptr;
    Running& running = *running_[frame.channel];
    return members_[running.host].get() == &member ? &running : nullptr;
  };
  if (frame.kind == FrameKind::Control) {
    if (Running* const running = own()) running->waiting.push_back(frame.content);
    return;
  }
  if (frame.kind == FrameKind::Bytes) {
    if (member.into.is_open()) {
      os::write_all(member.into, std::as_bytes(std::span(frame.content)), member.file);
    }
    return;
  }
  const json message = message_of(frame);
  if (message.contains("clock")) {
    const std::int64_t now = os::real_time_ns();
    const std::int64_t took = now - member.asked_ns;
    ++member.answers;
    if (took < member.best_ns) {
      member.best_ns = took;
      member.who.clock_ns =
          message.at("real_ns").get<std::int64_t>() - (member.asked_ns + took / 2);
      member.who.uncertainty_ns = took / 2;
    }
  } else if (message.contains("begun")) {
    member.begun = true;
  } else if (message.contains("failed")) {
    member.refuses = true;
    fail(member, message.at("failed").get<std::string>());
  } else if (message.contains("ended")) {
    if (Running* const running = own()) {
      running->ending = os::Ending{.exit_code = message.at("ended").at(0).get<int>(),
                                   .signal = message.at("ended").at(1).get<int>()};
    }
  } else if (message.contains("file")) {
    std::string name = message.at("file").get<std::string>();
    if (!is_file_name(name)) throw DataError("a file with a name that is none");
    if (folder_.empty()) throw DataError("a file that nobody has asked for");
    if (name == "capture.pcap") name = member.who.name + ".pcap";
    member.file = fmt::format("{}/{}", folder_, name);
    member.into = os::open_in_place(member.file);
  } else if (message.contains("finished")) {
    member.into = {};
    member.finished = true;
    if (message.contains("trouble")) fail(member, message.at("trouble").get<std::string>());
    const json& told = message.at("finished");
    if (told.is_null()) return;
    member.result.capture =
        capture::LiveResult{.file = fmt::format("{}/{}.pcap", folder_, member.who.name),
                            .packets = told.at("packets").get<std::uint64_t>(),
                            .bytes = told.at("bytes").get<std::uint64_t>(),
                            .dropped = told.at("dropped").get<std::uint64_t>()};
    if (told.contains("failure")) {
      member.result.capture->failure = told.at("failure").get<std::string>();
    }
    member.result.least =
        watch::difference(counters_from(told.at("ending")), counters_from(told.at("begun")));
    member.result.most =
        watch::difference(counters_from(told.at("after")), counters_from(told.at("before")));
  }
}

bool Fleet::wait_for_all(const std::function<bool(const Member&)>& done, Duration longest) {
  std::int64_t limit = after(longest);
  for (;;) {
    attend();
    const auto waited = std::ranges::find_if(
        members_, [&](const auto& m) { return !m->gone && !m->refuses && !done(*m); });
    if (waited == members_.end()) return true;
    for (const auto& member : members_) {  // as long as somebody speaks, nobody is given up
      limit = std::max(limit, member->link.heard_ns() + longest.count() / 3);
    }
    if (os::monotonic_ns() > limit) {
      (*waited)->link.close();
      fail(**waited, fmt::format("no answer within {}", readable(longest)));
      return false;
    }
    std::this_thread::sleep_for(kLook);
  }
}

std::vector<HostResult> Fleet::finish() {
  for (auto& member : members_) {
    member->refuses = false;
    if (!member->gone) member->link.send(json{{"finish", true}});
  }
  wait_for_all([](const Member& member) { return member.finished; }, kLongestAnswer);
  std::vector<HostResult> results;
  for (auto& member : members_) results.push_back(std::move(member->result));
  return results;
}

}  // namespace tw::fleet
