// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded (LD_PRELOAD) that fails the n-th system call or allocation of a program,
// or kills it there; tests/faults.py walks n through a whole run.
//
// TW_FAULT is "KIND N ERRNO FILE". KIND: `calls` fails call N with ERRNO; `calls-on` that one and
// all after it; `allocations` and `allocations-on` the same for malloc and its kin; `kill` ends the
// process (SIGKILL) before its N-th change of a file. N = 0 fails nothing. FILE gets the count and,
// once something has failed, its name, as they stand when the process ends.
//
// Only the process that is started is meant: not its children. Standard error is spared, so that
// the program can say what happened.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum class Kind { None, Calls, CallsOn, Allocations, AllocationsOn, Kill };

struct State {
  std::uint64_t count;
  std::uint64_t fired;
  char name[48];
};

Kind kind = Kind::None;
std::uint64_t number = 0;
int error_number = EIO;
long process = 0;
State own_state = {};
State* state = &own_state;

Kind kind_of(std::string_view word) {
  if (word == "calls") return Kind::Calls;
  if (word == "calls-on") return Kind::CallsOn;
  if (word == "allocations") return Kind::Allocations;
  if (word == "allocations-on") return Kind::AllocationsOn;
  return word == "kill" ? Kind::Kill : Kind::None;
}

/// By system calls alone: the wrappers below are not to count themselves.
State* shared_state(const char* path) {
  const long fd = ::syscall(SYS_open, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ::syscall(SYS_ftruncate, fd, sizeof(State));
  const long at = ::syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::syscall(SYS_close, fd);
  return at < 0 && at > -4096 ? &own_state : reinterpret_cast<State*>(at);
}

__attribute__((constructor)) void begin() {
  const char* const words = std::getenv("TW_FAULT");
  if (words == nullptr) return;
  char what[32] = {};
  char path[512] = {};
  unsigned long long n = 0;
  if (std::sscanf(words, "%31s %llu %d %511s", what, &n, &error_number, path) != 4) return;
  ::unsetenv("TW_FAULT");
  state = shared_state(path);
  number = n;
  process = ::syscall(SYS_getpid);
  kind = kind_of(what);
}

/// Counts one; whether it is to fail.
bool is_due(const char* name, bool goes_on) {
  if (::syscall(SYS_getpid) != process) return false;
  const std::uint64_t count = __atomic_add_fetch(&state->count, 1, __ATOMIC_RELAXED);
  if (number == 0 || count < number || (count > number && !goes_on)) return false;
  if (__atomic_exchange_n(&state->fired, 1, __ATOMIC_RELAXED) == 0) {
    std::strncpy(state->name, name, sizeof state->name - 1);
  }
  return true;
}

/// For every call; sets errno when it is to fail.
bool fails(const char* name) {
  if (kind != Kind::Calls && kind != Kind::CallsOn) return false;
  const int before = errno;
  const bool due = is_due(name, kind == Kind::CallsOn);
  errno = due ? error_number : before;
  return due;
}

/// For calls that change files: those at which a crash leaves something new.
bool fails_or_dies(const char* name) {
  if (kind == Kind::Kill && is_due(name, false)) {
    ::syscall(SYS_kill, process, SIGKILL);
    ::syscall(SYS_pause);
  }
  return fails(name);
}

bool starves(const char* name) {
  if (kind != Kind::Allocations && kind != Kind::AllocationsOn) return false;
  if (!is_due(name, kind == Kind::AllocationsOn)) return false;
  errno = ENOMEM;
  return true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_spared(int fd) { return fd == STDERR_FILENO; }
bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

}  // namespace

#pragma GCC diagnostic ignored "-Wmissing-declarations"
#pragma GCC diagnostic ignored "-Wnonnull-compare"

extern "C" {

void* malloc(std::size_t size) noexcept {
  return starves("malloc") ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return starves("calloc") ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* before, std::size_t size) noexcept {
  return starves("realloc") ? nullptr : __libc_realloc(before, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return starves("aligned_alloc") ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** into, std::size_t alignment, std::size_t size) noexcept {
  if (starves("posix_memalign")) return ENOMEM;
  *into = __libc_memalign(alignment, size);
  return *into == nullptr ? ENOMEM : 0;
}

int open(const char* path, int flags, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, flags);
  const mode_t mode = __builtin_va_arg(rest, mode_t);
  __builtin_va_end(rest);
  static auto* const next = real<int(const char*, int, mode_t)>("open");
  if (writes(flags) ? fails_or_dies("open") : fails("open")) return -1;
  return next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, flags);
  const mode_t mode = __builtin_va_arg(rest, mode_t);
  __builtin_va_end(rest);
  static auto* const next = real<int(const char*, int, mode_t)>("open64");
  if (writes(flags) ? fails_or_dies("open") : fails("open")) return -1;
  return next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, flags);
  const mode_t mode = __builtin_va_arg(rest, mode_t);
  __builtin_va_end(rest);
  static auto* const next = real<int(int, const char*, int, mode_t)>("openat");
  if (writes(flags) ? fails_or_dies("openat") : fails("openat")) return -1;
  return next(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen");
  return fails_or_dies("fopen") ? nullptr : next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  static auto* const next = real<FILE*(const char*, const char*)>("fopen64");
  return fails_or_dies("fopen") ? nullptr : next(path, mode);
}
ssize_t read(int fd, void* into, std::size_t size) {
  static auto* const next = real<ssize_t(int, void*, std::size_t)>("read");
  return fails("read") ? -1 : next(fd, into, size);
}
ssize_t pread(int fd, void* into, std::size_t size, off_t at) {
  static auto* const next = real<ssize_t(int, void*, std::size_t, off_t)>("pread");
  return fails("pread") ? -1 : next(fd, into, size, at);
}
ssize_t write(int fd, const void* from, std::size_t size) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t)>("write");
  return !is_spared(fd) && fails_or_dies("write") ? -1 : next(fd, from, size);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
  return !is_spared(fd) && fails_or_dies("writev") ? -1 : next(fd, parts, count);
}
int close(int fd) {
  static auto* const next = real<int(int)>("close");
  const bool failed = fails("close");
  const int result = next(fd);
  if (failed) errno = error_number;
  return failed ? -1 : result;
}
int fsync(int fd) {
  static auto* const next = real<int(int)>("fsync");
  return fails_or_dies("fsync") ? -1 : next(fd);
}
int ftruncate(int fd, off_t size) noexcept {
  static auto* const next = real<int(int, off_t)>("ftruncate");
  return fails_or_dies("ftruncate") ? -1 : next(fd, size);
}
int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return fails_or_dies("rename") ? -1 : next(from, to);
}
int unlink(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("unlink");
  return fails_or_dies("unlink") ? -1 : next(path);
}
int remove(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("remove");
  return fails_or_dies("remove") ? -1 : next(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return fails_or_dies("mkdir") ? -1 : next(path, mode);
}
DIR* opendir(const char* path) {
  static auto* const next = real<DIR*(const char*)>("opendir");
  return fails("opendir") ? nullptr : next(path);
}
int stat(const char* path, struct stat* into) noexcept {
  static auto* const next = real<int(const char*, struct stat*)>("stat");
  return fails("stat") ? -1 : next(path, into);
}
int lstat(const char* path, struct stat* into) noexcept {
  static auto* const next = real<int(const char*, struct stat*)>("lstat");
  return fails("lstat") ? -1 : next(path, into);
}
int fstat(int fd, struct stat* into) noexcept {
  static auto* const next = real<int(int, struct stat*)>("fstat");
  return fails("fstat") ? -1 : next(fd, into);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails("mmap") ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}
pid_t fork() noexcept {
  static auto* const next = real<pid_t()>("fork");
  return fails("fork") ? -1 : next();
}
int pipe2(int* ends, int flags) noexcept {
  static auto* const next = real<int(int*, int)>("pipe2");
  return fails("pipe2") ? -1 : next(ends, flags);
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  static auto* const next = real<int(int, int, int, int*)>("socketpair");
  return fails("socketpair") ? -1 : next(domain, type, protocol, ends);
}
int socket(int domain, int type, int protocol) noexcept {
  static auto* const next = real<int(int, int, int)>("socket");
  return fails("socket") ? -1 : next(domain, type, protocol);
}
ssize_t send(int fd, const void* from, std::size_t size, int flags) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t, int)>("send");
  return fails("send") ? -1 : next(fd, from, size, flags);
}
ssize_t recv(int fd, void* into, std::size_t size, int flags) {
  static auto* const next = real<ssize_t(int, void*, std::size_t, int)>("recv");
  return fails("recv") ? -1 : next(fd, into, size, flags);
}
int poll(pollfd* files, nfds_t count, int timeout) {
  static auto* const next = real<int(pollfd*, nfds_t, int)>("poll");
  return fails("poll") ? -1 : next(files, count, timeout);
}

}  // extern "C"
