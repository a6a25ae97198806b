// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/explain.h"

#include <array>
#include <fstream>

namespace tw::programs {
namespace {

constexpr std::streamoff kMostBytes = 64 << 10;

struct Known {
  std::string_view words;  ///< as CUDA, NCCL and PyTorch write them
  std::string_view meaning;
};

/// The first that is found counts: causes stand before what follows from them.
constexpr std::array<Known, 10> kKnown{{
    {"CUDA out of memory",
     "the GPU's memory is full: all ranks share it; take a smaller batch, a smaller model or fewer "
     "ranks"},
    {"CUDA error: out of memory",
     "the GPU's memory is full: all ranks share it; take a smaller batch, a smaller model or fewer "
     "ranks"},
    {"Cuda failure 'out of memory'",
     "NCCL found the GPU's memory full: all ranks share it; take a smaller batch or fewer ranks"},
    {"MPS client failed to connect",
     "MPS did not let the rank in; mps/server.log and mps/control.log in the run folder tell why"},
    {"MPS server is not ready", "MPS was not ready for the rank; try again, mps/server.log tells"},
    {"the remote procedural call between the MPS server and the MPS client failed",
     "MPS broke down, as it does for all ranks when one of them crashes on the GPU; the first rank "
     "that failed is the cause"},
    {"hardware resources required to create MPS client have been exhausted",
     "MPS has no room for so many ranks on one GPU; take fewer"},
    {"Duplicate GPU detected",
     "NCCL takes two ranks for one host; is NCCL_HOSTID set by the program? --gpu shared gives "
     "each "
     "rank its own"},
    {"invalid device ordinal",
     "the program took another GPU than the first, perhaps by LOCAL_RANK; with --gpu shared all "
     "ranks have GPU 0: place one rank on each host, or use device 0"},
    {"no CUDA-capable device is detected",
     "the program found no GPU; --gpu shared gives it one where the machine has one"},
}};

std::string end_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff begin = size > kMostBytes ? size - kMostBytes : 0;
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  file.seekg(begin);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string meaning_of(std::string_view text) {
  for (const Known& known : kKnown) {
    if (text.find(known.words) != std::string_view::npos) return std::string(known.meaning);
  }
  return {};
}

std::string meaning_of_file(const std::string& path) { return meaning_of(end_of(path)); }

bool lost_a_peer(const std::string& path) {
  const std::string text = end_of(path);
  for (const std::string_view words :
       {"Connection closed by peer", "Connection reset by peer", "Broken pipe",
        "remote process exited or there was a network error"}) {
    if (text.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace tw::programs
