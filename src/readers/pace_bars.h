// SPDX-License-Identifier: Apache-2.0
// How far a training is, and since when: progress bars of tqdm, rich and Keras, and lines that tell the time since the
// beginning (LLaMA-Factory, ms-swift, modded-nanogpt). Two of them tell what the steps between took on average.
//
// Programs draw other bars too (validation, the loading of checkpoints): bars of the same length belong together, and those that
// tell of most steps count.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace tw::readers {

class PaceBars {
 public:
  /// False when it is none.
  bool line(std::string_view text);
  bool any() const { return !bars_.empty(); }
  /// Whether some tell whole seconds, or what a bar says of its pace: averages of many steps.
  bool are_averages() const { return are_averages_; }
  /// Whether what passed between two of them is known.
  bool moved() const;
  /// Whether the bar that counts is drawn by several processes in turn.
  bool are_mixed() const;
  /// Of the bar that tells of most steps; of a bar that stands still one step.
  std::vector<operations::Step> steps() const;

 private:
  struct Bar {
    std::optional<std::int64_t> number = {};
    double elapsed_s = 0;
    double each_s = 0;      ///< as the bar itself says
    double drift_s = 0;     ///< by how much more its steps were given than passed
    std::size_t backs = 0;  ///< how often its number went back while its time went on
    std::vector<operations::Step> steps = {};
  };
  /// Where a bar of `all` steps stands, and how exactly it tells the time.
  struct Place {
    std::string label;
    std::int64_t all;
    std::int64_t number;
    double elapsed_s;
    double each_s;
    double resolution_s;
  };

  bool tqdm(std::string_view text);
  bool endless(std::string_view text);
  bool rich(std::string_view text);
  bool keras(std::string_view text);
  bool since_start(std::string_view text);
  bool fairseq(std::string_view text);
  const Bar* fullest() const;
  Bar* bar_of(const std::string& label, std::int64_t all);
  void moved(const Place& to);
  static double share(Bar& bar, const Place& to, double steps);
  /// `count` steps from `number` on, of `seconds` each on average.
  static void add(Bar& bar, std::int64_t number, std::int64_t count, double seconds);

  std::map<std::pair<std::string, std::int64_t>, Bar>
      bars_;  ///< by what stands before it, and length
  bool are_averages_ = false;
};

}  // namespace tw::readers
