// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/leftovers.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftover_path.h"
#include "trainwire/ledger/queue.h"
#include "trainwire/ledger/record.h"
#include "trainwire/os/namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace tw::ledger {
namespace {

constexpr std::string_view kSuffix = ".json";
/// Thousands of hosts and ranks; more is no ledger of ours.
constexpr std::size_t kLongestLedger = 16U << 20;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "k3f9ab.json" and the like; other names are other people's files.
bool is_ledger_name(std::string_view name) {
  if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) return false;
  name.remove_suffix(kSuffix.size());
  return std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  });
}

std::string read_all(const os::FileDescriptor& file) {
  std::string text;
  std::array<std::byte, 65536> piece;
  while (text.size() < kLongestLedger) {
    const std::ptrdiff_t count = os::read_some(file, piece);
    if (count <= 0) break;
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  for (const std::string& name : names_in("/proc")) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::string program_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
  return name;
}

void wait_until_gone(const os::ProcessIdentity& process) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (os::is_alive(process) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Where runs put temporary files.
std::vector<std::string> roots_for(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::string> roots = {std::filesystem::absolute(folder, ignored).string(),
                                    std::filesystem::temp_directory_path(ignored).string(), "/tmp"};
  std::erase_if(roots, [](const std::string& root) { return root.empty() || root == "/"; });
  return roots;
}

/// The ledger of one run, opened.
class Leftover {
 public:
  Leftover(const os::FileDescriptor& folder, const std::string& folder_name, std::string name,
           const ClearOptions& options)
      : folder_(folder),
        folder_name_(folder_name),
        name_(std::move(name)),
        options_(options),
        file_(::openat(folder.get(), name_.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}

  void clear_into(ClearedLeftovers& report) {
    if (!is_ours()) {
      report.notes.push_back(fmt::format("left {}/{} alone: no ledger", folder_name_, name_));
      return;
    }
    const bool has_lock = lock();
    // The run ends by removing its ledger, so a lock may come too late.
    if (has_lock && is_removed()) return;
    record_ = parse_ledger(read_all(file_));
    const bool speaks_of_us = record_.owner && shares_processes(*record_.owner);
    // A child that the dead run forked, and that should have died with it, may hold the lock.
    const bool is_dead = has_lock || (speaks_of_us && !os::is_alive(record_.owner->process));
    if (!is_dead) {
      ++report.living;
      return;
    }
    if (record_.owner && !can_see_leftovers(*record_.owner)) {
      report.notes.push_back(fmt::format(
          "left {}/{} alone: what it left may be hidden in here; clean up outside of the "
          "user namespace",
          folder_name_, name_));
      return;
    }
    run_.id = name_.substr(0, name_.size() - kSuffix.size());
    if (record_.owner) run_.command = record_.owner->command;
    if (speaks_of_us) kill_processes();
    take_back_shaping();
    remove_paths(report);
    note_unread(report);
    note_doubts(report);
    // With doubts left it is needed again.
    if (!options_.dry_run && doubtful_.empty()) ::unlinkat(folder_.get(), name_.c_str(), 0);
    report.runs.push_back(std::move(run_));
  }

 private:
  bool is_ours() const {
    struct stat facts = {};
    return file_.is_open() && ::fstat(file_.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_uid == ::geteuid();
  }
  bool is_removed() const {
    struct stat facts = {};
    return ::fstat(file_.get(), &facts) == 0 && facts.st_nlink == 0;
  }
  bool lock() const { return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

  void kill(const os::ProcessIdentity& process, const std::string& what) {
    if (process.pid == ::getpid() || !os::is_alive(process)) return;
    if (!met_.insert(process.pid).second) return;
    if (!options_.dry_run) {
      if (!os::kill_process(process)) return;
      wait_until_gone(process);
    }
    run_.removed.push_back(what);
  }

  void kill_processes() {
    for (const LedgerProcess& entry : record_.processes) {
      kill(entry.process, fmt::format("process {} ({})", entry.process.pid, entry.role));
    }
    // Killing some may make others appear for as long as one forks; a few looks are enough.
    for (int look = 0; look < (options_.dry_run ? 1 : 3); ++look) kill_inhabitants();
  }

  void kill_inhabitants() {
    const auto own = network_number(::getpid());
    for (const pid_t pid : all_processes()) {
      const auto number = network_number(pid);
      if (!number || number == own) continue;
      const auto network =
          std::find_if(record_.networks.begin(), record_.networks.end(),
                       [&](const LedgerNetwork& one) { return one.identity.number == *number; });
      if (network == record_.networks.end()) continue;
      const auto process = os::identify(pid);
      const Residence where = process ? residence(pid, network->identity) : Residence::Elsewhere;
      if (where == Residence::Unknown) doubtful_.insert(pid);
      if (where != Residence::There) continue;
      kill(*process, fmt::format("process {} ({}) in the network of {}", pid, program_of(pid),
                                 network->name));
    }
  }

  void take_back_shaping() {
    for (const LedgerQueue& queue : record_.queues) {
      if (const auto network = find_network(queue.network)) take_back(*network, queue.device);
    }
  }

  /// Nothing when it is gone, and its devices with it.
  static std::optional<os::FileDescriptor> find_network(const NetworkIdentity& network) {
    os::FileDescriptor own = os::current_network_namespace();
    if (identify_network(own) == network) return own;
    for (const pid_t pid : all_processes()) {
      if (network_number(pid) != network.number) continue;
      if (residence(pid, network) != Residence::There) continue;
      os::FileDescriptor found(
          ::open(fmt::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
      if (found.is_open()) return found;
    }
    return {};
  }

  void take_back(const os::FileDescriptor& network, const std::string& device) {
    try {
      const os::InNetwork inside(network);
      const bool ours =
          options_.dry_run ? queues_of(device) == Queues::Ours : take_back_queues(device);
      if (ours) run_.removed.push_back("the shaping of " + device);
    } catch (const SystemError&) {  // the device is gone, and with it its queues
    }
  }

  void remove_paths(ClearedLeftovers& report) {
    for (const std::string& path : record_.paths) {
      const PathFate fate = remove_path(path, roots_for(folder_name_), options_.dry_run);
      if (fate.was_there) run_.removed.push_back(path);
      if (!fate.note.empty()) report.notes.push_back(fate.note);
    }
  }

  void note_doubts(ClearedLeftovers& report) const {
    for (const pid_t pid : doubtful_) {
      report.notes.push_back(
          fmt::format("left process {} ({}) alone: it may be of run {}; if so, end it by hand", pid,
                      program_of(pid), run_.id));
    }
  }

  void note_unread(ClearedLeftovers& report) const {
    if (record_.unread == 0) return;
    report.notes.push_back(fmt::format("{}/{}: {} line{} not understood", folder_name_, name_,
                                       record_.unread, record_.unread == 1 ? "" : "s"));
  }

  const os::FileDescriptor& folder_;
  const std::string& folder_name_;
  std::string name_;
  ClearOptions options_;
  os::FileDescriptor file_;
  LedgerRecord record_ = {};
  DeadRun run_ = {};
  std::set<pid_t> met_ = {};
  std::set<pid_t> doubtful_ = {};
};

}  // namespace

ClearedLeftovers clear_leftovers(const std::string& folder, const ClearOptions& options) {
  ClearedLeftovers report;
  const os::FileDescriptor opened = open_state_folder(folder);
  if (!opened.is_open()) return report;
  for (const std::string& name : names_in(folder)) {
    if (is_ledger_name(name)) Leftover(opened, folder, name, options).clear_into(report);
  }
  return report;
}

}  // namespace tw::ledger
