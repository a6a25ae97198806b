// SPDX-License-Identifier: Apache-2.0
// How a job really trains, and what its payload then is.
//
// The payload stays one array of 4-byte words, so that whoever counts, plans or times an exchange
// need not know what the words are:
//
//   fp32   a word for each parameter
//   fp16   a word for two of them, as half-precision numbers, added as such
//   topk   two words for each gradient that travels: its value, and the number of one that is to
//          travel in the next step (learn/top_k.h says why sums of these are right)
//
// Each bucket is coded by itself, so that chunks of any exchange cut between words.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw::workload {

enum class Precision { Fp32, Fp16, TopK };

struct Learning {
  std::string model;        ///< "mlp", "cnn"
  std::vector<int> widths;  ///< mlp: layer sizes, input first
  std::string data;         ///< "fashion-mnist", "synthetic", a folder
  int batch = 1;            ///< samples per worker and local step
  double learning_rate = 0;
  double momentum = 0;
  int local_steps = 1;
  Precision precision = Precision::Fp32;
  double top_k = 0;                           ///< share of a bucket's gradients, with TopK
  std::int64_t evaluate_every = 1;            ///< steps
  double target_accuracy = 0;                 ///< 0: none
  bool paced = false;                         ///< a step takes its compute time at least
  std::vector<std::int64_t> parameters = {};  ///< of each bucket

  bool operator==(const Learning&) const = default;
};

/// Of a bucket's gradients, how many travel at a time: at least one of any.
std::int64_t kept_gradients(std::int64_t parameters, double top_k);

/// Words of a bucket's payload.
std::int64_t payload_words(const Learning& learning, std::int64_t parameters);

}  // namespace tw::workload
