// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/programs.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tw::testbed {
namespace {

constexpr int kCannotRun = 127;

/// A file that vanishes with its last user.
class HostsFile {
 public:
  explicit HostsFile(const network::NetPlan& plan) {
    path_ = "/tmp/trainwire-hosts-XXXXXX";
    const os::FileDescriptor file(::mkostemp(path_.data(), O_CLOEXEC));
    if (!file.is_open()) throw os::errno_error("writing the hosts' names to /tmp", errno);
    ::fchmod(file.get(), 0644);
    std::string text = "127.0.0.1 localhost\n::1 localhost\n";
    for (const network::HostPlan& host : plan.hosts)
      text += fmt::format("{} {}\n", host.address, host.name);
    os::write_all(file, std::as_bytes(std::span(text)), path_);
  }
  ~HostsFile() { ::unlink(path_.c_str()); }
  HostsFile(const HostsFile&) = delete;
  HostsFile& operator=(const HostsFile&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

/// What the first process of the namespaces sees, and all others with it.
void set_up_files(const char* hosts) {
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    throw os::errno_error("making a private view of the files", errno);
  }
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    throw os::errno_error("mounting /proc for the hosts", errno);
  }
  // Names of hosts are a convenience; some systems have no such file.
  ::mount(hosts, "/etc/hosts", nullptr, MS_BIND, nullptr);
}

/// The first process adopts and reaps what the programs leave behind.
[[noreturn]] void reap_for_ever() {
  while (true) {
    if (::waitpid(-1, nullptr, 0) < 0) ::pause();
  }
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Between fork and exec: system calls only.
struct Entry {
  int network;
  int files;
  const char* host_name;
  const char* folder;
  std::array<int, 3> standard;

  bool enter() const {
    return ::setns(network, CLONE_NEWNET) == 0 && ::setns(files, CLONE_NEWNS) == 0 &&
           ::unshare(CLONE_NEWUTS) == 0 && ::sethostname(host_name, std::strlen(host_name)) == 0 &&
           ::chdir(folder) == 0 && take_standard();
  }

  bool take_standard() const {
    // Copies above first, since the three may stand in one another's places.
    std::array<int, 3> high = {};
    for (std::size_t i = 0; i < 3; ++i) {
      high[i] = ::fcntl(standard[i], F_DUPFD_CLOEXEC, 10);
      if (high[i] < 0) return false;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (::dup2(high[i], static_cast<int>(i)) < 0) return false;
    }
    return true;
  }
};

std::string current_folder() {
  std::array<char, 4096> path = {};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "/";
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0) return name;
    throw SpecError(fmt::format("{}: {}; give a program that can be run", name, ::strerror(errno)));
  }
  const char* const folders = ::getenv("PATH");
  std::string_view left = folders != nullptr ? folders : "/usr/local/bin:/usr/bin:/bin";
  while (!left.empty() && !name.empty()) {
    const std::size_t end = left.find(':');
    const std::string path = fmt::format("{}/{}", left.substr(0, end), name);
    if (::access(path.c_str(), X_OK) == 0) return path;
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
  }
  throw SpecError(
      fmt::format("{}: no such program in PATH; check its name or give its path", name));
}

Programs::Programs(const Cluster& cluster) : cluster_(cluster) {
  const HostsFile hosts(cluster.plan());
  os::Pipe ready = os::make_pipe();
  first_ = os::Child::start_in_new_namespaces([&]() -> int {
    set_up_files(hosts.path());
    os::write_all(ready.write, std::as_bytes(std::span("r", 1)), "the pipe to the run");
    reap_for_ever();
  });
  ready.write = {};
  std::array<std::byte, 1> word = {};
  if (os::read_some(ready.read, word) != 1) {
    throw SystemError(
        "making a place for the programs: the kernel refused; trainwire doctor tells more");
  }
  const std::string folder = fmt::format("/proc/{}/ns/", first_.identity().pid);
  processes_ = os::open_to_read(folder + "pid");
  files_ = os::open_to_read(folder + "mnt");
}

os::Child Programs::start(const Program& program) const {
  check(!program.words.empty(), "a program has a name");
  const std::string path = find_program(program.words.front());
  const std::string folder = current_folder();
  const std::vector<char*> words = pointers(program.words);
  const std::vector<char*> environment = pointers(program.environment);
  const Entry entry{
      .network = cluster_.host(program.host).get(),
      .files = files_.get(),
      .host_name = cluster_.plan().hosts[static_cast<std::size_t>(program.host)].name.c_str(),
      .folder = folder.c_str(),
      .standard = {program.input, program.output, program.errors}};
  return os::Child::start_in(processes_, [&] {
    if (entry.enter()) ::execve(path.c_str(), words.data(), environment.data());
    return kCannotRun;
  });
}

}  // namespace tw::testbed
