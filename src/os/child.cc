// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/child.h"

#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace tw::os {
namespace {

using std::chrono::nanoseconds;

/// State and start time from /proc/PID/stat, whose second field is a name that may hold anything.
struct Stat {
  char state = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<Stat> read_stat(pid_t pid) {
  std::array<char, 4096> text;
  FileDescriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  const std::ptrdiff_t length = read_some(file, std::as_writable_bytes(std::span(text)));
  if (length <= 0) return {};
  const std::string_view line(text.data(), static_cast<std::size_t>(length));
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  Stat stat{.state = line[name_end + 2]};
  // Field 22, where the state is field 3.
  std::size_t at = name_end + 2;
  for (int field = 3; field < 22 && at != std::string_view::npos; ++field) {
    at = line.find(' ', at + 1);
  }
  if (at == std::string_view::npos) return {};
  std::from_chars(line.data() + at + 1, line.data() + line.size(), stat.start_ticks);
  return stat;
}

FileDescriptor open_handle(pid_t pid) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Ending ending_of(int status) {
  return WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                             : Ending{.exit_code = WEXITSTATUS(status)};
}

/// What every child does first. `parent` is a handle of the process that forked, which may have
/// died before the request for its death was made; getppid() cannot tell across pid namespaces.
void begin_child(const FileDescriptor& parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd death{.fd = parent.get(), .events = POLLIN, .revents = 0};
  if (::poll(&death, 1, 0) > 0) ::_exit(70);
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const std::function<int()>& body, const FileDescriptor& parent) {
  begin_child(parent);
  int code = 70;
  try {
    code = body();
  } catch (const std::exception& error) {
    const std::string line = std::string(error.what()) + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  ::_exit(code);
}

/// Ends as `status` says that another process ended.
[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 70);
}

/// A process that starts another one inside a pid namespace, tells its number, and ends like it.
/// (Whoever enters a pid namespace for its children can make no more threads, and without root
/// cannot leave it again.)
[[noreturn]] void run_deputy(const std::function<int()>& body, const FileDescriptor& parent,
                             const FileDescriptor& pid_namespace, int tell) {
  begin_child(parent);
  const FileDescriptor self = open_handle(::getpid());
  if (::setns(pid_namespace.get(), CLONE_NEWPID) != 0) ::_exit(70);
  const pid_t pid = ::fork();
  if (pid == 0) run_child(body, self);
  if (pid > 0) ::setpgid(pid, pid);
  [[maybe_unused]] const auto written = ::write(tell, &pid, sizeof pid);
  ::close(tell);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end_like(status);
}

}  // namespace

std::optional<ProcessIdentity> identify(pid_t pid) {
  const std::optional<Stat> stat = read_stat(pid);
  if (!stat) return {};
  return ProcessIdentity{.pid = pid, .start_ticks = stat->start_ticks};
}

bool is_alive(const ProcessIdentity& process) {
  const std::optional<Stat> stat = read_stat(process.pid);
  return stat && stat->start_ticks == process.start_ticks && stat->state != 'Z' &&
         stat->state != 'X';
}

bool kill_process(const ProcessIdentity& process) {
  // The handle pins the process, so the number cannot change hands between the look and the kill.
  const FileDescriptor handle = open_handle(process.pid);
  if (!handle.is_open() || !is_alive(process)) return false;
  return ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0) == 0;
}

std::string describe(const Ending& ending) {
  if (ending.signal != 0) {
    return fmt::format("was killed by signal {} ({})", ending.signal, ::strsignal(ending.signal));
  }
  return fmt::format("exited with code {}", ending.exit_code);
}

Child Child::adopt(pid_t pid, pid_t waited) {
  if (pid < 0 || waited < 0) throw errno_error("starting a process", errno);
  // Both sides set the group: whoever comes first.
  ::setpgid(pid, pid);
  Child child;
  child.identity_ = identify(pid).value_or(ProcessIdentity{.pid = pid});
  child.waited_ = waited;
  child.handle_ = open_handle(waited);
  return child;
}

Child Child::start(const std::function<int()>& body) {
  const FileDescriptor self = open_handle(::getpid());
  const pid_t pid = ::fork();
  if (pid == 0) run_child(body, self);
  return adopt(pid, pid);
}

Child Child::start_in(const FileDescriptor& pid_namespace, const std::function<int()>& body) {
  Pipe told = make_pipe();
  const FileDescriptor self = open_handle(::getpid());
  // Should the deputy be killed, its child becomes ours: the namespace's first process cannot end
  // before somebody has reaped it, and the system's first process may take its time.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t deputy = ::fork();
  if (deputy == 0) run_deputy(body, self, pid_namespace, told.write.get());
  if (deputy < 0) throw errno_error("starting a process", errno);
  told.write = {};
  pid_t pid = 0;
  const auto number = std::as_writable_bytes(std::span(&pid, 1));
  if (read_some(told.read, number) != sizeof pid || pid <= 0) {
    ::waitpid(deputy, nullptr, 0);
    throw errno_error("starting a process in the run's namespace", EPERM);
  }
  return adopt(pid, deputy);
}

Child Child::start_in_new_namespaces(const std::function<int()>& body) {
  const FileDescriptor self = open_handle(::getpid());
  const long pid = ::syscall(SYS_clone, SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS,
                             nullptr, nullptr, nullptr, 0);
  if (pid == 0) run_child(body, self);
  return adopt(static_cast<pid_t>(pid), static_cast<pid_t>(pid));
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  std::swap(identity_, other.identity_);
  std::swap(waited_, other.waited_);
  std::swap(handle_, other.handle_);
  std::swap(ending_, other.ending_);
  return *this;
}

Child::~Child() {
  if (is_running()) stop(nanoseconds(0));
}

std::optional<Ending> Child::poll() {
  if (!is_running()) return ending_;
  int status = 0;
  if (::waitpid(waited_, &status, WNOHANG) != waited_) return ending_;
  ending_ = ending_of(status);
  reap_orphan();
  return ending_;
}

void Child::reap_orphan() {
  if (waited_ == identity_.pid) return;
  // A deputy that was not killed itself has reaped it.
  kill_process(identity_);
  while (::waitpid(identity_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Ending> Child::wait_for(nanoseconds time) {
  if (!is_running()) return ending_;
  pollfd end{.fd = handle_.get(), .events = POLLIN, .revents = 0};
  const auto limit = std::chrono::steady_clock::now() + time;
  while (!poll()) {
    const auto left = limit - std::chrono::steady_clock::now();
    if (left <= nanoseconds(0)) break;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (::poll(&end, 1, static_cast<int>(std::min<std::int64_t>(ms, 1000))) < 0 && errno != EINTR) {
      break;
    }
  }
  return ending_;
}

void Child::signal(int number) {
  if (is_running()) ::kill(-identity_.pid, number);
}

Ending Child::stop(nanoseconds grace) {
  if (!is_running()) return ending_.value_or(Ending{});
  if (grace > nanoseconds(0)) {
    signal(SIGTERM);
    wait_for(grace);
  }
  // The group too, where the child itself is gone but its own children are not.
  ::kill(-identity_.pid, SIGKILL);
  int status = 0;
  while (!ending_ && ::waitpid(waited_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ending_) {
    ending_ = ending_of(status);
    reap_orphan();
  }
  return *ending_;
}

}  // namespace tw::os
