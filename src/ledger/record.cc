// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/record.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/os/namespace.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace tw::ledger {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string line(const ordered_json& object) {
  // Command lines and paths may hold bytes that are no UTF-8.
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::optional<std::uint64_t> number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return {};
  return found->get<std::uint64_t>();
}

std::optional<std::string> text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

/// Numbers 0 and below would mean groups of processes, and 1 is the system's first.
std::optional<os::ProcessIdentity> process(const json& object) {
  const auto pid = number(object, "pid");
  const auto start = number(object, "start_ticks");
  if (!pid || !start || *pid < 2 || *pid > INT32_MAX) return {};
  return os::ProcessIdentity{.pid = static_cast<pid_t>(*pid), .start_ticks = *start};
}

std::optional<LedgerOwner> read_owner(const json& object) {
  const auto identity = process(object);
  const auto boot = text(object, "boot");
  const auto pid_namespace = number(object, "pid_namespace");
  const auto user_namespace = number(object, "user_namespace");
  const auto command = text(object, "command");
  const auto started = number(object, "started_s");
  if (!identity || !boot || !pid_namespace || !user_namespace || !command || !started ||
      *started > INT64_MAX) {
    return {};
  }
  return LedgerOwner{.process = *identity,
                     .boot = *boot,
                     .pid_namespace = *pid_namespace,
                     .user_namespace = *user_namespace,
                     .command = *command,
                     .started_s = static_cast<std::int64_t>(*started)};
}

/// False when the object is nothing that a ledger holds.
bool take(LedgerRecord& record, const json& object) {
  const std::optional<std::string> kind = text(object, "kind");
  if (kind == "run" && !record.owner) {
    record.owner = read_owner(object);
    return record.owner.has_value();
  }
  if (kind == "process") {
    const auto identity = process(object);
    const auto role = text(object, "role");
    if (identity && role) record.processes.push_back({.process = *identity, .role = *role});
    return identity && role;
  }
  if (kind == "network") {
    const auto numbered = number(object, "number");
    const auto cookie = number(object, "cookie");
    const auto name = text(object, "name");
    if (!numbered || !cookie || !name) return false;
    record.networks.push_back(
        {.identity = {.number = *numbered, .cookie = *cookie}, .name = *name});
    return true;
  }
  if (kind == "queue") {
    const auto numbered = number(object, "number");
    const auto cookie = number(object, "cookie");
    const auto device = text(object, "device");
    if (!numbered || !cookie || !device) return false;
    record.queues.push_back(
        {.network = {.number = *numbered, .cookie = *cookie}, .device = *device});
    return true;
  }
  if (kind == "path") {
    const auto path = text(object, "path");
    if (path) record.paths.push_back(*path);
    return path.has_value();
  }
  return false;
}

std::string this_boot() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

std::uint64_t this_namespace(const std::string& kind) {
  return os::namespace_number(os::open_to_read("/proc/self/ns/" + kind));
}

}  // namespace

LedgerOwner describe_owner(std::string_view command) {
  const auto self = os::identify(::getpid());
  if (!self) throw SystemError("opening a ledger: /proc does not know this process; mount /proc");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.process = *self,
          .boot = this_boot(),
          .pid_namespace = this_namespace("pid"),
          .user_namespace = this_namespace("user"),
          .command = std::string(command),
          .started_s = std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

bool shares_processes(const LedgerOwner& owner) {
  return owner.boot == this_boot() && owner.pid_namespace == this_namespace("pid");
}

bool can_see_leftovers(const LedgerOwner& owner) {
  return !outer_user() || owner.user_namespace == this_namespace("user");
}

std::string line_of(const LedgerOwner& owner) {
  return line({{"kind", "run"},
               {"pid", owner.process.pid},
               {"start_ticks", owner.process.start_ticks},
               {"boot", owner.boot},
               {"pid_namespace", owner.pid_namespace},
               {"user_namespace", owner.user_namespace},
               {"command", owner.command},
               {"started_s", owner.started_s}});
}

std::string line_of(const LedgerProcess& process) {
  return line({{"kind", "process"},
               {"pid", process.process.pid},
               {"start_ticks", process.process.start_ticks},
               {"role", process.role}});
}

std::string line_of(const LedgerNetwork& network) {
  return line({{"kind", "network"},
               {"number", network.identity.number},
               {"cookie", network.identity.cookie},
               {"name", network.name}});
}

std::string line_of(const LedgerQueue& queue) {
  return line({{"kind", "queue"},
               {"number", queue.network.number},
               {"cookie", queue.network.cookie},
               {"device", queue.device}});
}

std::string line_of_path(std::string_view path) { return line({{"kind", "path"}, {"path", path}}); }

LedgerRecord parse_ledger(std::string_view text) {
  LedgerRecord record;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const json object = json::parse(one, nullptr, false);
    // A torn last line has no end; that it reads well does not make it whole.
    const bool is_whole = end != std::string_view::npos && object.is_object();
    if (!is_whole || !take(record, object)) ++record.unread;
  }
  return record;
}

}  // namespace tw::ledger
