// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/own_program.h"

#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::os {
namespace {

/// "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-2.31.so".
bool is_loader(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  return name.starts_with("ld-") && name.find(".so") != std::string::npos;
}

/// Options of glibc's loader that take a word.
bool takes_word(std::string_view option) {
  for (const std::string_view known :
       {"--library-path", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask", "--inhibit-rpath",
        "--audit", "--preload", "--argv0"}) {
    if (option == known) return true;
  }
  return false;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// Ranks stand elsewhere.
std::string absolute(const std::string& path) {
  std::error_code none;
  const std::filesystem::path made = std::filesystem::absolute(path, none);
  return none ? path : made.string();
}

}  // namespace

std::vector<std::string> starting_words(const std::string& program,
                                        const std::vector<std::string>& command_line) {
  std::vector<std::string> words{program};
  if (!is_loader(program)) return words;
  for (std::size_t i = 1; i < command_line.size(); ++i) {
    const std::string& word = command_line[i];
    if (!word.starts_with("--")) {
      words.push_back(absolute(word));
      return words;
    }
    words.push_back(word);
    if (takes_word(word) && i + 1 < command_line.size()) words.push_back(command_line[++i]);
  }
  return {program};
}

OwnProgram own_program() {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) throw errno_error("finding this program by /proc/self/exe", error.value());
  OwnProgram own{.words = starting_words(program, command_line())};
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    if (const char* value = ::getenv(name)) {
      own.environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  return own;
}

}  // namespace tw::os
