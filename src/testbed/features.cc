// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/features.h"

#include "trainwire/base/error.h"
#include "trainwire/measure/round_trip.h"
#include "trainwire/os/child.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/spec/parse.h"
#include "trainwire/testbed/check.h"
#include "trainwire/testbed/cluster.h"
#include "trainwire/testbed/features_attempt.h"
#include "trainwire/testbed/features_timer.h"
#include "trainwire/testbed/links.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

namespace tw::testbed {
namespace {

using spec::Engine;
using std::chrono::milliseconds;

constexpr const char* kDevice = "probe0";
constexpr const char* kOther = "probe1";
constexpr network::Mac kMac = {0x02, 0x78, 0, 0, 0, 1};
constexpr network::Mac kOtherMac = {0x02, 0x78, 0, 0, 0, 2};

/// Two hosts, half a millisecond a link, so two there and back.
network::NetPlan smallest_plan() {
  constexpr const char* kText =
      "[network]\nhosts = 2\nrate = \"100Mbit\"\ndelay = \"500us\"\ncongestion_control = "
      "\"reno\"\n";
  return network::make_plan(spec::parse(kText, "the probe", {}));
}

std::string try_network() {
  os::make_network_namespace();
  return {};
}

/// In a new network with a pair of devices.
std::string with_pair(const std::function<void(Links&)>& body) {
  const os::FileDescriptor network = os::make_network_namespace();
  const os::InNetwork inside(network);
  Links links;
  links.make_pair({.name = kDevice, .mac = kMac}, {.name = kOther, .mac = kOtherMac}, 1500);
  body(links);
  return {};
}

std::string try_links() {
  return with_pair([](Links& links) {
    links.make_bridge("switch");
    links.attach(kDevice, "switch", {});
  });
}

std::string try_shaping() {
  return with_pair([](Links& links) {
    links.shape(kDevice, {.rate = 100_Mbit, .burst = 64_KiB, .limit = 128_KiB});
  });
}

std::string try_segment_limit() {
  return with_pair([](Links& links) { links.set_largest_segment(kDevice, 16_KiB); });
}

std::string try_engine(Engine engine) {
  const Cluster cluster(smallest_plan(), engine);
  const auto found = measure::measure_round_trip(
      end_of(cluster, 0), end_of(cluster, 1),
      {.count = 1, .spacing = milliseconds(1), .patience = milliseconds(1000)});
  if (found.samples.empty()) throw SystemError("sending a packet through it: it was lost");
  if (found.median < milliseconds(2)) {
    throw SystemError(fmt::format("delaying a packet by 2 ms: it took {}", readable(found.median)));
  }
  return fmt::format("2 ms asked, {} measured", readable(found.median));
}

std::string try_pid_namespaces() {
  os::Child first = os::Child::start_in_new_namespaces([] { return ::getpid() == 1 ? 0 : 1; });
  const auto ending = first.wait_for(std::chrono::seconds(1));
  if (!ending || !ending->succeeded()) throw SystemError("starting a first process: it failed");
  return {};
}

std::string try_capture() {
  const os::FileDescriptor network = os::make_network_namespace();
  const os::InNetwork inside(network);
  const os::FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
  if (!socket.is_open()) throw os::errno_error("opening a packet socket", errno);
  const int version = TPACKET_V3;
  if (::setsockopt(socket.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0) {
    throw os::errno_error("asking for a packet ring", errno);
  }
  return {};
}

/// What the kernel lists, and what it may load when asked.
std::set<std::string> congestion_control_names() {
  std::set<std::string> names = {"bbr", "cubic", "dctcp", "reno"};
  std::ifstream file("/proc/sys/net/ipv4/tcp_available_congestion_control");
  for (std::string name; file >> name;) names.insert(name);
  return names;
}

/// Those that a route accepts, a blank after each.
std::string try_congestion_controls() {
  std::string accepted;
  with_pair([&](Links& links) {
    network::NetPlan plan = smallest_plan();
    links.set_up(kDevice);
    links.add_address(kDevice, plan, 0);
    for (const std::string& name : congestion_control_names()) {
      plan.congestion_control = name;
      try {
        links.add_routes(kDevice, plan);
        accepted += name + " ";
      } catch (const SystemError&) {
        // Not in this kernel: that is the answer.
      }
    }
  });
  return accepted;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Feature find_run_queue() {
  if (::access("/proc/self/schedstat", R_OK) == 0) return {.works = true};
  return {.reason = os::errno_error("reading /proc/self/schedstat", errno).what()};
}

/// As whom, and the two attempts that tell.
Features find_privilege() {
  Features found;
  found.root_networks = attempt(Privilege::Root, try_network);
  if (found.root_networks.works) {
    found.privilege = Privilege::Root;
    return found;
  }
  found.user_namespaces = attempt(Privilege::UserNamespace, try_network);
  if (found.user_namespaces.works) found.privilege = Privilege::UserNamespace;
  return found;
}

/// Whether an ordinary user could do it: for root to know.
std::string try_as_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0) {
    throw os::errno_error("becoming an ordinary user", errno);
  }
  os::become_root_of_own_namespace();
  return try_network();
}

/// How many tasks can run at once: containers and taskset may allow fewer than the machine has.
int count_processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

Feature& place_of(Features& features, Engine engine) {
  if (engine == Engine::Netem) return features.netem;
  return engine == Engine::Tap ? features.tap : features.nfqueue;
}

}  // namespace

const Feature& Features::of(Engine engine) const {
  check(engine != Engine::Auto, "the engine has a name");
  return place_of(const_cast<Features&>(*this), engine);
}

Features find_features() {
  Features found = find_privilege();
  const auto try_it = [&](const std::function<std::string()>& body) {
    return attempt(found.privilege, body);
  };
  if (found.privilege == Privilege::Root) found.user_namespaces = try_it(try_as_nobody);
  found.links = try_it(try_links);
  found.shaping = try_it(try_shaping);
  found.segment_limit = try_it(try_segment_limit);
  for (const Engine engine : {Engine::Netem, Engine::Nfqueue, Engine::Tap}) {
    place_of(found, engine) = try_it([=] { return try_engine(engine); });
  }
  found.pid_namespaces = try_it(try_pid_namespaces);
  found.capture = try_it(try_capture);
  found.congestion_controls = words(try_it(try_congestion_controls).reason);
  found.run_queue = find_run_queue();
  found.processors = count_processors();
  found.timer = measure_timer();
  return found;
}

EngineFeatures::EngineFeatures() : found_(find_privilege()) {
  if (found_.privilege != Privilege::None) return;
  const std::string& reason = found_.user_namespaces.reason;
  // It may say already what to do.
  if (reason.find("run as root") != reason.npos) throw SystemError(reason);
  throw SystemError(
      fmt::format("{}; run as root, or allow user namespaces: trainwire doctor says how", reason));
}

const Feature& EngineFeatures::of(Engine engine) {
  Feature& feature = place_of(found_, engine);
  if (std::find(tried_.begin(), tried_.end(), engine) == tried_.end()) {
    tried_.push_back(engine);
    feature = attempt(found_.privilege, [=] { return try_engine(engine); });
  }
  return feature;
}

}  // namespace tw::testbed
