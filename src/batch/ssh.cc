// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/ssh.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace tw::batch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr Duration kLongestStart = seconds(10);
/// Compiled into sshd; the system makes it when it starts its own, with another mode.
constexpr const char* kPrivilegeFolder = "/run/sshd";
constexpr mode_t kOurMode = 0711;
constexpr const char* kSays = "Server listening on";
/// bash reads ~/.bashrc where sshd starts it as the outermost shell. What stands there is for real
/// hosts: here many would do it at once, and one that is killed on the way leaves its locks behind.
constexpr const char* kNoStartFiles = "SetEnv SHLVL=1";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_at(const os::FileDescriptor& folder, const char* path) {
  struct stat held = {};
  struct stat there = {};
  return ::fstat(folder.get(), &held) == 0 && ::stat(path, &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

/// Locked for as long as a cluster's daemons need it, so that no other cluster takes it away.
os::FileDescriptor take_privilege_folder() {
  while (true) {
    if (::mkdir(kPrivilegeFolder, 0700) == 0) ::chmod(kPrivilegeFolder, kOurMode);
    os::FileDescriptor folder(::open(kPrivilegeFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open() || ::flock(folder.get(), LOCK_SH) != 0) return {};
    if (is_at(folder, kPrivilegeFolder)) return folder;
  }
}

/// The last cluster takes away what one of them has made.
void leave_privilege_folder(const os::FileDescriptor& folder) {
  struct stat found = {};
  if (!folder.is_open() || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (::fstat(folder.get(), &found) == 0 && (found.st_mode & 0777) == kOurMode) {
    ::rmdir(kPrivilegeFolder);
  }
}

}  // namespace

std::string ssh_missing() {
  for (const char* name : {"sshd", "ssh", "ssh-keygen"}) {
    if (daemon_program(name).empty()) {
      return fmt::format(
          "there is no {} on this machine; apt install openssh-server openssh-client", name);
    }
  }
  return {};
}

std::string SshHosts::make_key(const std::string& name, const Stage& stage) const {
  const std::string path = scratch_.file(name);
  os::Child made = start_daemon(stage, {.host = 0,
                                        .words = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                                                  "-C", "trainwire", "-f", path},
                                        .environment = environment_without("SSH_"),
                                        .output = scratch_.file("keygen.txt"),
                                        .role = "ssh-keygen"});
  const auto ending = made.wait_for(kLongestStart);
  if (!ending || !ending->succeeded()) {
    throw SystemError("making a key for sshd: " + last_line(scratch_.file("keygen.txt")));
  }
  return path;
}

SshHosts::SshHosts(const network::NetPlan& plan, const Stage& stage)
    : scratch_("ssh", stage.ledger) {
  if (const std::string missing = ssh_missing(); !missing.empty()) {
    throw SystemError("starting sshd: " + missing);
  }
  privilege_folder_ = take_privilege_folder();
  const std::string host_key = make_key("host_key", stage);
  const std::string user_key = make_key("user_key", stage);
  const std::string allowed = scratch_.write("authorized_keys", text_of(user_key + ".pub"));
  std::string known;
  std::string names;
  for (const network::HostPlan& host : plan.hosts) {
    known += fmt::format("{},{} {}", host.name, host.address, text_of(host_key + ".pub"));
    names += host.name + "\n";
    const std::string config = scratch_.write(
        "sshd_config." + host.name,
        fmt::format("ListenAddress {}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n"
                    "StrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                    "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
                    "UseDNS no\nPrintMotd no\nMaxStartups 100\n{}\n",
                    host.address, host_key, allowed, kNoStartFiles));
    daemons_.push_back(
        start_daemon(stage, {.host = static_cast<int>(daemons_.size()),
                             .words = {daemon_program("sshd"), "-D", "-e", "-f", config},
                             .environment = environment_without("SSH_"),
                             .output = scratch_.file("sshd." + host.name),
                             .role = "sshd." + host.name}));
  }
  hosts_ = scratch_.write("hosts", names);
  config_ = scratch_.write(
      "ssh_config", fmt::format("Host *\n  IdentityFile {}\n  IdentitiesOnly yes\n"
                                "  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n"
                                "  StrictHostKeyChecking yes\n  BatchMode yes\n  ConnectTimeout 5\n"
                                "  LogLevel ERROR\n",
                                user_key, scratch_.write("known_hosts", known)));
  const auto limit = steady_clock::now() + kLongestStart;
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    const std::string said = scratch_.file("sshd." + plan.hosts[i].name);
    while (text_of(said).find(kSays) == std::string::npos) {
      if (daemons_[i].poll() || steady_clock::now() > limit) {
        throw SystemError(
            fmt::format("starting sshd on {}: {}", plan.hosts[i].name, last_line(said)));
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
}

SshHosts::~SshHosts() {
  daemons_.clear();
  leave_privilege_folder(privilege_folder_);
}

std::vector<std::string> SshHosts::environment() const {
  return {"TRAINWIRE_SSH=ssh -F " + config_, "OMPI_MCA_plm_rsh_agent=ssh -F " + config_,
          "TRAINWIRE_HOSTS=" + hosts_};
}

}  // namespace tw::batch
