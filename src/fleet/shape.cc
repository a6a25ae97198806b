// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/shape.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/queue.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/testbed/links.h"
#include "trainwire/testbed/netem.h"
#include "trainwire/testbed/shaping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

namespace tw::fleet {
namespace {

using nlohmann::json;

void give_back(const std::string& device) noexcept {
  try {
    ledger::take_back_queues(device);
  } catch (const Error&) {  // the device is gone
  }
}

/// A batch system kills all that it has started at once: the guard has to outlive that by a moment.
void leave_batch_job() {
  for (const char* group : {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/freezer/cgroup.procs"}) {
    const os::FileDescriptor file(::open(group, O_WRONLY | O_CLOEXEC));
    if (file.is_open()) std::ignore = ::write(file.get(), "0", 1);
  }
}

/// Waits until whoever shaped the device is gone. Holds nothing of his but the pipes: neither his
/// ledger nor the output that a launcher waits for the end of.
[[noreturn]] void guard(const std::string& device, int alive, int ended) {
  ::prctl(PR_SET_NAME, "trainwire-guard");
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  leave_batch_job();
  const os::FileDescriptor nothing = os::open_to_write("/dev/null");
  ::dup2(nothing.get(), 2);
  ::dup2(alive, 0);
  ::dup2(ended, 1);
  ::close_range(3, ~0U, 0);
  char byte = 0;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  give_back(device);
  ::_exit(0);
}

json one_to_json(const Shape& shape) {
  return {{"rate_bps", shape.rate_bps},       {"burst_bytes", shape.burst_bytes},
          {"limit_bytes", shape.limit_bytes}, {"delay_ns", shape.delay_ns},
          {"jitter_ns", shape.jitter_ns},     {"loss", shape.loss},
          {"loss_burst", shape.loss_burst},   {"packets", shape.packets}};
}

Shape one_from(const json& d) {
  Shape shape;
  d.at("rate_bps").get_to(shape.rate_bps);
  d.at("burst_bytes").get_to(shape.burst_bytes);
  d.at("limit_bytes").get_to(shape.limit_bytes);
  d.at("delay_ns").get_to(shape.delay_ns);
  d.at("jitter_ns").get_to(shape.jitter_ns);
  d.at("loss").get_to(shape.loss);
  d.at("loss_burst").get_to(shape.loss_burst);
  d.at("packets").get_to(shape.packets);
  return shape;
}

Shape shape_of(const network::NetPlan& plan, const network::Port& port) {
  const testbed::Bucket bucket = testbed::bucket_for(port, plan.mtu, plan.lossy());
  return {.rate_bps = bucket.rate.bits_per_second(),
          .burst_bytes = bucket.burst.count(),
          .limit_bytes = bucket.limit.count(),
          .delay_ns = port.delay.count(),
          .jitter_ns = port.jitter.count(),
          .loss = port.loss,
          .loss_burst = port.loss_burst,
          .packets = testbed::packets_in_flight(plan, port, port.delay)};
}

void put_queue(testbed::Links& links, const std::string& device, const Shape& shape) {
  links.shape(device,
              {.rate = BitRate(shape.rate_bps),
               .burst = Bytes(shape.burst_bytes),
               .limit = Bytes(shape.limit_bytes)},
              ledger::kOurQueue);
  if (!shape.needs_netem()) return;
  try {
    links.add_netem(device,
                    {.delay = Duration(shape.delay_ns),
                     .jitter = Duration(shape.jitter_ns),
                     .loss = shape.loss,
                     .loss_burst = shape.loss_burst,
                     .limit = shape.packets},
                    ledger::kOurQueue);
  } catch (const SystemError& error) {
    throw SystemError(fmt::format(
        "{}; without it only rates can be shaped: --set network.delay=0us, no loss", error.what()));
  }
}

}  // namespace

std::vector<DeviceShape> shapes_of(const network::NetPlan& plan) {
  if (plan.switches.size() > 1) {
    throw SpecError(
        "--shape: machines shape what they send and receive, not links between switches; take "
        "network.topology = \"star\", or leave --shape out");
  }
  std::vector<DeviceShape> shapes(plan.hosts.size());
  for (const network::Port& port : plan.ports) {
    const bool leaves = port.from < static_cast<int>(plan.hosts.size());
    const auto host = static_cast<std::size_t>(leaves ? port.from : port.to);
    (leaves ? shapes[host].out : shapes[host].in) = shape_of(plan, port);
  }
  return shapes;
}

json to_json(const DeviceShape& shape) {
  return {{"out", one_to_json(shape.out)}, {"in", one_to_json(shape.in)}};
}

DeviceShape shape_from(const json& document) {
  try {
    return {.out = one_from(document.at("out")), .in = one_from(document.at("in"))};
  } catch (const json::exception& error) {
    throw DataError(fmt::format("reading how a device is to be shaped: {}", error.what()));
  }
}

Shaping::Shaping(std::string device, const DeviceShape& shape, ledger::Ledger& ledger)
    : device_(std::move(device)) {
  if (ledger::queues_of(device_) != ledger::Queues::Kernels) {
    throw SystemError(
        fmt::format("shaping {}: somebody has set its queues already (tc qdisc show dev {}); take "
                    "that away, or leave --shape out",
                    device_, device_));
  }
  const bool loses = shape.out.loss > 0 || shape.in.loss > 0;
  if (loses && testbed::Links().offloads(device_)) {
    throw SystemError(
        fmt::format("shaping {}: it handles several packets as one, which would be lost together; "
                    "ethtool -K {} tso off gso off gro off, or no loss",
                    device_, device_));
  }
  ledger.add_queue(device_);
  start_guard();
  try {
    apply(shape);
  } catch (const SystemError& error) {
    take_back();
    const std::string why = error.what();
    if (why.find(std::strerror(EPERM)) == std::string::npos) throw;
    throw SystemError(why + "; --shape needs root on every host");
  }
}

Shaping::~Shaping() { take_back(); }

bool Shaping::is_there() const { return ledger::queues_of(device_) == ledger::Queues::Ours; }

void Shaping::apply(const DeviceShape& shape) const {
  testbed::Links links;
  const std::string passage = ledger::incoming_device(device_);
  put_queue(links, device_, shape.out);
  links.make_passage(passage);
  put_queue(links, passage, shape.in);
  links.lead_arriving(device_, passage);
}

/// It is nobody's child, so that who ends this process with its children does not end it.
void Shaping::start_guard() {
  os::Pipe alive = os::make_pipe();
  os::Pipe ended = os::make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    alive.write = {};
    ended.read = {};
    guard(device_, alive.read.get(), ended.write.get());
  }
  if (child < 0) throw os::errno_error("starting the guard of a shaped device", errno);
  ::waitpid(child, nullptr, 0);
  alive_ = std::move(alive.write);
  guard_ended_ = std::move(ended.read);
}

void Shaping::take_back() noexcept {
  alive_ = {};
  std::array<std::byte, 1> nothing = {};
  if (guard_ended_.is_open()) os::read_some(guard_ended_, nothing);
  guard_ended_ = {};
  give_back(device_);  // a guard that was killed has not
}

}  // namespace tw::fleet
