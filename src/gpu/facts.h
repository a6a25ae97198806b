// SPDX-License-Identifier: Apache-2.0
// What this machine has of NVIDIA's: GPUs and their driver, MPS, NCCL. Found by asking nvidia-smi
// and by looking at files; nothing of CUDA is needed to build this.
//
// Limits: NCCL is looked for where packages of it lie and in LD_LIBRARY_PATH; PyTorch may bring one
// that lies elsewhere. Whether it works only a run tells.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::gpu {

struct Card {
  std::string name = {};
  std::string driver = {};  ///< its version
  std::int64_t memory_bytes = 0;
  std::string compute_mode = {};  ///< "Default", "Exclusive_Process", "Prohibited"
  bool operator==(const Card&) const = default;
};

struct Facts {
  std::vector<Card> cards = {};
  std::string problem = {};      ///< why there is no card, and what to do
  std::string mps_control = {};  ///< path of nvidia-cuda-mps-control; "" when it is not in PATH
  std::string nccl = {};         ///< path of the library; "" when it was not found
};

Facts find();

/// Why ranks cannot share the first card here, with what to do; nothing when they can.
std::optional<std::string> why_not_shared(const Facts& facts);

/// One line each for doctor: "NVIDIA H200, 141 GB, driver 570.86", or what is missing.
std::string card_words(const Facts& facts);
/// "MPS found; NCCL found (/usr/lib/...)".
std::string library_words(const Facts& facts);

/// Lines of nvidia-smi --query-gpu=name,driver_version,memory.total,compute_mode
/// --format=csv,noheader,nounits; those that are none are left out.
std::vector<Card> parse_cards(std::string_view text);

}  // namespace tw::gpu
