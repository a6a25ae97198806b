// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gpu/facts.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/gpu/ask.h"
#include "trainwire/testbed/programs.h"

#include <fmt/format.h>
#include <glob.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace tw::gpu {
namespace {

constexpr const char* kQuery = "--query-gpu=name,driver_version,memory.total,compute_mode";
constexpr const char* kDevice = "/dev/nvidia0";
constexpr const char* kMpsControl = "nvidia-cuda-mps-control";
/// A driver that is asked for the first time takes seconds.
constexpr Duration kLongestAnswer = std::chrono::seconds(30);

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::string path_of(const std::string& program) {
  try {
    return testbed::find_program(program);
  } catch (const SpecError&) {
    return {};
  }
}

void find_cards(Facts& facts) {
  if (path_of("nvidia-smi").empty()) {
    std::error_code none;
    facts.problem = std::filesystem::exists(kDevice, none)
                        ? "there is /dev/nvidia0 but no nvidia-smi in PATH; install the driver's "
                          "programs"
                        : "there is no NVIDIA GPU: neither nvidia-smi nor /dev/nvidia0; use a "
                          "machine with one, or leave --gpu out and train on processors";
    return;
  }
  const Answer answer =
      ask({"nvidia-smi", kQuery, "--format=csv,noheader,nounits"}, kLongestAnswer);
  if (answer.is_good()) facts.cards = parse_cards(answer.output);
  if (facts.cards.empty()) {
    facts.problem =
        fmt::format("nvidia-smi finds no GPU ({}); is the driver loaded?", answer.reason());
  }
}

std::string first_match(const std::string& pattern) {
  glob_t found = {};
  std::string path;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0) {
    path = found.gl_pathv[0];
  }
  ::globfree(&found);
  return path;
}

std::string find_nccl() {
  std::vector<std::string> folders;
  const char* paths = ::getenv("LD_LIBRARY_PATH");
  std::istringstream own(paths != nullptr ? paths : "");
  for (std::string folder; std::getline(own, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  for (const char* usual :
       {"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/local/cuda*/lib64",
        "/usr/lib/python3*/*-packages/nvidia/nccl/lib",
        "/usr/local/lib/python3*/*-packages/nvidia/nccl/lib",
        "/opt/*/lib/python3*/site-packages/nvidia/nccl/lib"}) {
    folders.emplace_back(usual);
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* root = ::getenv(variable)) {
      folders.push_back(std::string(root) + "/lib/python3*/site-packages/nvidia/nccl/lib");
    }
  }
  for (const std::string& folder : folders) {
    if (std::string path = first_match(folder + "/libnccl.so*"); !path.empty()) return path;
  }
  return {};
}

}  // namespace

std::vector<Card> parse_cards(std::string_view text) {
  std::vector<Card> cards;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(trimmed(word));
    if (words.size() != 4 || words[0].empty()) continue;
    std::int64_t mebibytes = 0;
    std::from_chars(words[2].data(), words[2].data() + words[2].size(), mebibytes);
    if (mebibytes < 0 || mebibytes > (std::int64_t{1} << 40)) mebibytes = 0;
    cards.push_back({.name = printable(words[0]),
                     .driver = printable(words[1]),
                     .memory_bytes = mebibytes << 20,
                     .compute_mode = printable(words[3])});
  }
  return cards;
}

Facts find() {
  Facts facts{.mps_control = path_of(kMpsControl), .nccl = find_nccl()};
  find_cards(facts);
  return facts;
}

std::optional<std::string> why_not_shared(const Facts& facts) {
  if (facts.cards.empty()) return facts.problem;
  const Card& card = facts.cards.front();
  if (card.compute_mode == "Prohibited") {
    return fmt::format("{} lets nobody compute; allow it with nvidia-smi -c DEFAULT", card.name);
  }
  if (facts.mps_control.empty()) {
    return "there is no nvidia-cuda-mps-control in PATH, by which ranks share a GPU; it comes with "
           "the driver's compute programs (Debian: nvidia-cuda-mps)";
  }
  return {};
}

std::string card_words(const Facts& facts) {
  if (facts.cards.empty()) return facts.problem;
  const Card& card = facts.cards.front();
  std::string words = card.name;
  if (card.memory_bytes > 0) words += fmt::format(", {}", readable(Bytes(card.memory_bytes)));
  words += fmt::format(", driver {}", card.driver);
  if (facts.cards.size() > 1) words += fmt::format("; {} more", facts.cards.size() - 1);
  return words;
}

std::string library_words(const Facts& facts) {
  return fmt::format("MPS {}, NCCL {}", facts.mps_control.empty() ? "not found" : "found",
                     facts.nccl.empty() ? "not found outside of PyTorch" : "found");
}

}  // namespace tw::gpu
