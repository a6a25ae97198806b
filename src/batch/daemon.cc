// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/daemon.h"

#include "trainwire/base/printable.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace tw::batch {

os::Child start_daemon(const Stage& stage, const DaemonWords& daemon) {
  const os::FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const os::FileDescriptor output(
      ::open(daemon.output.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600));
  if (!output.is_open()) throw os::errno_error("writing " + daemon.output, errno);
  os::Child child = stage.programs.start({.host = daemon.host,
                                          .words = daemon.words,
                                          .environment = daemon.environment,
                                          .input = nothing.get(),
                                          .output = output.get(),
                                          .errors = output.get()});
  stage.ledger.add(child.identity(), daemon.role);
  return child;
}

std::string daemon_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/local/sbin/", "/usr/bin/", "/usr/local/bin/"}) {
    const std::string path = folder + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::vector<std::string> environment_without(const std::string& prefix) {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with(prefix)) kept.push_back(text);
  }
  return kept;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    while (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) last = line;
  }
  return printable(last);
}

}  // namespace tw::batch
