// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/ledger.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/record.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace tw::ledger {
namespace {

constexpr const char* kRemedy = "make room or permit it, or set TRAINWIRE_STATE to another folder";

std::string random_id() {
  // Without letters that look like digits.
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::array<unsigned char, 6> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw os::errno_error("choosing a name for the run", errno);
  }
  std::string id;
  for (const unsigned char byte : bytes) id += kLetters[byte % kLetters.size()];
  return id;
}

}  // namespace

Ledger::Ledger(const std::string& folder, std::string_view command)
    : folder_name_(folder), folder_(make_state_folder(folder)), maker_(::getpid()) {
  do {
    id_ = random_id();
  } while (!create());
  try {
    append(line_of(describe_owner(command)));
  } catch (...) {
    ::unlinkat(folder_.get(), (id_ + ".json").c_str(), 0);
    throw;
  }
}

Ledger::~Ledger() {
  if (::getpid() == maker_) ::unlinkat(folder_.get(), (id_ + ".json").c_str(), 0);
}

bool Ledger::create() {
  const std::string name = id_ + ".json";
  file_ = os::FileDescriptor(::openat(folder_.get(), name.c_str(),
                                      O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.is_open()) {
    if (errno == EEXIST) return false;
    throw os::errno_error(fmt::format("writing the ledger {}/{}", folder_name_, name), errno,
                          kRemedy);
  }
  if (::flock(file_.get(), LOCK_EX) != 0) {
    throw os::errno_error(fmt::format("locking the ledger {}/{}", folder_name_, name), errno,
                          kRemedy);
  }
  // A cleanup may have come between and found a ledger that nobody holds.
  struct stat facts = {};
  return ::fstat(file_.get(), &facts) == 0 && facts.st_nlink > 0;
}

void Ledger::append(std::string_view line) {
  try {
    os::write_all(file_, std::as_bytes(std::span(line)),
                  fmt::format("the ledger {}/{}.json", folder_name_, id_));
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("{}; {}", error.what(), kRemedy));
  }
}

void Ledger::add(const os::ProcessIdentity& process, std::string_view role) {
  append(line_of(LedgerProcess{.process = process, .role = std::string(role)}));
}

void Ledger::add_namespace(const os::FileDescriptor& network, std::string_view name) {
  append(line_of(LedgerNetwork{.identity = identify_network(network), .name = std::string(name)}));
}

void Ledger::add_queue(const std::string& device) {
  append(line_of(LedgerQueue{.network = identify_network(os::open_to_read("/proc/self/ns/net")),
                             .device = device}));
}

void Ledger::add_path(const std::string& path) {
  check(path.starts_with('/'), "a ledger holds absolute paths");
  append(line_of_path(path));
}

}  // namespace tw::ledger
