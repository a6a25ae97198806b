// SPDX-License-Identifier: Apache-2.0
// Pictures to learn from and pictures to be judged by: Fashion-MNIST or another set in its files, or
// one that is made from a seed.
//
// Fashion-MNIST (Xiao, Rasul & Vollgraf 2017, arXiv:1708.07747): 60,000 and 10,000 grey pictures of 28
// x 28, ten kinds of clothes. Debian has it as dataset-fashion-mnist. A folder in its place holds the
// same four IDX files, packed by gzip or plain: train-images-idx3-ubyte, train-labels-idx1-ubyte,
// t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
//
// Synthetic: ten random smooth pictures, each sample one of them, shifted, dimmed and under noise. It
// is easy: it shows that a training works, not how well a model does.

#pragma once

#include "trainwire/learn/idx.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::learn {

inline constexpr const char* kFashionMnist = "fashion-mnist";
inline constexpr const char* kSynthetic = "synthetic";
/// Where Debian puts it.
inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

/// Pictures and what they show.
struct Samples {
  Pictures pictures = {};
  std::vector<std::uint8_t> kinds = {};  ///< of each
  std::int64_t count() const { return std::ssize(kinds); }
};

struct DataSet {
  std::string name;
  Samples train;
  Samples test;
  int kinds() const;  ///< the largest number of a kind, and one
};

/// What keeps the set of that name from being read, with the remedy; "" when its files are there.
std::string data_problem(const std::string& name);

/// "fashion-mnist", "synthetic", or a folder. Throws SystemError when it is not there, DataError when
/// its files do not fit together.
DataSet load_data(const std::string& name, std::uint64_t seed);

/// The same set for the same seed.
DataSet synthetic_data(std::uint64_t seed, std::int64_t train, std::int64_t test);

}  // namespace tw::learn
