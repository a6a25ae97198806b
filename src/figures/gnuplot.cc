// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/gnuplot.h"

#include "trainwire/base/error.h"
#include "trainwire/os/child.h"
#include "trainwire/result/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tw::figures {
namespace {

constexpr std::chrono::seconds kPatience{120};

/// Between fork and exec.
int start(const Drawing& drawing, const std::string& settings, const std::string& log) {
  if (::chdir(drawing.folder.c_str()) != 0) return 126;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int said = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (nothing < 0 || said < 0) return 126;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(said, STDERR_FILENO);
  // -d: without the user's own settings, so that a script draws the same everywhere.
  std::array<const char*, 6> words{"gnuplot", "-d", "-e", settings.c_str(), drawing.script.c_str(),
                                   nullptr};
  ::execv(drawing.gnuplot.c_str(), const_cast<char* const*>(words.data()));
  return 127;
}

/// The line that tells what is wrong: gnuplot shows the script's line and a mark before it.
std::string complaint(const std::string& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \t^") != line.npos) last = line;
  }
  return last;
}

}  // namespace

std::optional<std::string> find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string program = folder + "/gnuplot";
    if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::optional<std::string> draw(const Drawing& drawing) {
  const std::string settings = fmt::format("pdf='{}'; svg='{}'", drawing.pdf, drawing.svg);
  const std::string log = fmt::format(".gnuplot.{}.part", ::getpid());
  const std::string log_path = fmt::format("{}/{}", drawing.folder, log);
  const result::RemovedAtEnd guard(log_path);
  os::Child child = os::Child::start([&] { return start(drawing, settings, log); });
  const auto ending = child.wait_for(kPatience);
  if (!ending) return fmt::format("gnuplot took longer than {} s", kPatience.count());
  if (ending->succeeded()) return {};
  return fmt::format("gnuplot {}: {}", os::describe(*ending), complaint(log_path));
}

}  // namespace tw::figures
