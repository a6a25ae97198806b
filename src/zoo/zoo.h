// SPDX-License-Identifier: Apache-2.0
// The models by name. Each is built by code from its architecture; totals come out of it.
//
// A full name says whose variant it is: "resnet50-keras", "resnet50-torchvision". A short name
// ("resnet50") stands for the Keras variant where there is one, else for the only one; a few
// spellings of the papers ("ResNet-50", "bert_large") are understood too: case, "-" and "_" do not
// count.

#pragma once

#include "trainwire/zoo/model.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::zoo {

/// What may be changed about a model; nothing set means the published architecture.
struct Variation {
  /// Outputs of the classifier head, for models that have one.
  std::optional<int> classes = {};
  std::optional<std::vector<int>> widths = {};  ///< mlp: layer sizes, input first
  std::optional<int> blocks = {};               ///< transformer: layers
  std::optional<int> width = {};                ///< transformer: hidden size
  /// Tokens of one sample. BERT and GPT-2 keep their positions, hence their parameters; transformer
  /// has as many positions as tokens.
  std::optional<int> sequence = {};
  std::optional<int> vocabulary = {};  ///< transformer: vocabulary size
};

/// The fields of Variation.
enum class Knob { Classes, Widths, Blocks, Width, Sequence, Vocabulary };

/// "classes", "widths"...
std::string_view name_of(Knob knob);

struct Entry {
  std::string_view name;
  std::string_view summary;
  /// What a Variation may set for this model.
  std::span<const Knob> knobs;
  /// Neither checks the variation nor names the model; build() does.
  Model (*architecture)(const Variation&);

  /// Throws SpecError if the variation sets what this model has not, or sets it out of range.
  Model build(const Variation& variation = {}) const;
};

/// Keras models first, so that the first of an architecture is the one that its short name means.
std::span<const Entry> entries();

/// Every name that find() understands without normalising: full names first, then short ones.
std::vector<std::string_view> names();

/// "resnet50-keras" to "resnet50", "bert-large-uncased" to "bert-large"; a name without a variant
/// is its own short name. Variants of one architecture share their short name.
std::string_view short_name(std::string_view full_name);

/// Nothing when no model has that name. Throws SpecError as Entry::build does.
std::optional<Model> find(std::string_view name, const Variation& variation = {});

/// A model of `size` bytes of gradients that nothing else is known of: one layer, no FLOPs. A size
/// that is no multiple of 4 is rounded up to whole elements. REQUIRES: size >= 0.
Model anonymous(Bytes size);

}  // namespace tw::zoo
