// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/zoo.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/architectures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tw::zoo {
namespace {

using V = const Variation&;

constexpr std::array kHead{Knob::Classes};
constexpr std::array kSequence{Knob::Sequence};
constexpr std::array kMlp{Knob::Widths};
constexpr std::array kTransformer{Knob::Blocks, Knob::Width, Knob::Sequence, Knob::Vocabulary};

constexpr int kImageNet = 1000;
constexpr Stages kResNet50{3, 4, 6, 3};
constexpr Stages kResNet101{3, 4, 23, 3};
constexpr Stages kResNet152{3, 8, 36, 3};
constexpr DenseNet kDenseNet121{.blocks = {6, 12, 24, 16}};
constexpr DenseNet kDenseNet161{.blocks = {6, 12, 36, 24}, .growth = 48, .stem = 96};
constexpr DenseNet kDenseNet169{.blocks = {6, 12, 32, 32}};
constexpr DenseNet kDenseNet201{.blocks = {6, 12, 48, 32}};
constexpr std::array kVgg16{2, 2, 3, 3, 3};
constexpr std::array kVgg19{2, 2, 4, 4, 4};

int classes(V v) { return v.classes.value_or(kImageNet); }

/// 384 tokens: the length that BERT's authors and MLPerf use for SQuAD.
Model bert_of(int blocks, int width, V v) {
  return bert({.blocks = blocks,
               .width = width,
               .sequence = v.sequence.value_or(384),
               .positions = 512,
               .vocabulary = 30522});
}

Model gpt2_of(int blocks, int width, V v) {
  return gpt({.blocks = blocks,
              .width = width,
              .sequence = v.sequence.value_or(1024),
              .positions = 1024,
              .vocabulary = 50257});
}

/// GPT-2 in shape; unchanged it is GPT-2's smallest.
Model transformer(V v) {
  const int sequence = v.sequence.value_or(1024);
  Model model = gpt({.blocks = v.blocks.value_or(12),
                     .width = v.width.value_or(768),
                     .sequence = sequence,
                     .positions = sequence,
                     .vocabulary = v.vocabulary.value_or(50257)});
  model.source = "trainwire";
  return model;
}

Model mlp_of(V v) { return mlp(v.widths.value_or(std::vector{784, 256, 256, 10})); }

constexpr std::array kEntries{
    Entry{"mobilenet-keras", "MobileNet v1, width 1.0", kHead,
          [](V v) { return mobilenet_keras(classes(v)); }},
    Entry{"mobilenetv2-keras", "MobileNetV2, width 1.0", kHead,
          [](V v) { return mobilenetv2_keras(classes(v)); }},
    Entry{"densenet121-keras", "DenseNet-121", kHead,
          [](V v) { return densenet_keras(kDenseNet121, classes(v)); }},
    Entry{"densenet169-keras", "DenseNet-169", kHead,
          [](V v) { return densenet_keras(kDenseNet169, classes(v)); }},
    Entry{"densenet201-keras", "DenseNet-201", kHead,
          [](V v) { return densenet_keras(kDenseNet201, classes(v)); }},
    Entry{"inceptionv3-keras", "Inception v3", kHead,
          [](V v) { return inceptionv3_keras(classes(v)); }},
    Entry{"resnet50-keras", "ResNet-50", kHead,
          [](V v) { return resnet_keras(kResNet50, classes(v)); }},
    Entry{"resnet101-keras", "ResNet-101", kHead,
          [](V v) { return resnet_keras(kResNet101, classes(v)); }},
    Entry{"resnet152-keras", "ResNet-152", kHead,
          [](V v) { return resnet_keras(kResNet152, classes(v)); }},
    Entry{"vgg16-keras", "VGG-16", kHead, [](V v) { return vgg_keras(kVgg16, classes(v)); }},
    Entry{"vgg19-keras", "VGG-19", kHead, [](V v) { return vgg_keras(kVgg19, classes(v)); }},
    Entry{"mobilenetv2-torchvision", "MobileNetV2, width 1.0", kHead,
          [](V v) { return mobilenetv2_torchvision(classes(v)); }},
    Entry{"densenet121-torchvision", "DenseNet-121", kHead,
          [](V v) { return densenet_torchvision(kDenseNet121, classes(v)); }},
    Entry{"densenet161-torchvision", "DenseNet-161, growth 48", kHead,
          [](V v) { return densenet_torchvision(kDenseNet161, classes(v)); }},
    Entry{"densenet201-torchvision", "DenseNet-201", kHead,
          [](V v) { return densenet_torchvision(kDenseNet201, classes(v)); }},
    Entry{"inceptionv3-torchvision", "Inception v3 with its auxiliary classifier", kHead,
          [](V v) { return inceptionv3_torchvision(classes(v)); }},
    Entry{"resnet50-torchvision", "ResNet-50 v1.5", kHead,
          [](V v) { return resnet_torchvision(kResNet50, classes(v)); }},
    Entry{"resnet101-torchvision", "ResNet-101 v1.5", kHead,
          [](V v) { return resnet_torchvision(kResNet101, classes(v)); }},
    Entry{"resnet152-torchvision", "ResNet-152 v1.5", kHead,
          [](V v) { return resnet_torchvision(kResNet152, classes(v)); }},
    Entry{"vgg16-torchvision", "VGG-16", kHead,
          [](V v) { return vgg_torchvision(kVgg16, classes(v)); }},
    Entry{"vgg19-torchvision", "VGG-19", kHead,
          [](V v) { return vgg_torchvision(kVgg19, classes(v)); }},
    Entry{"resnet200-he2016", "ResNet-200, pre-activation", kHead,
          [](V v) {
            return resnet_preactivated({3, 24, 36, 3}, classes(v));
          }},
    Entry{"bert-base-uncased", "BERT base, with pooler, no head", kSequence,
          [](V v) { return bert_of(12, 768, v); }},
    Entry{"bert-large-uncased", "BERT large, with pooler, no head", kSequence,
          [](V v) { return bert_of(24, 1024, v); }},
    Entry{"gpt2", "GPT-2, 124 M", kSequence, [](V v) { return gpt2_of(12, 768, v); }},
    Entry{"gpt2-medium", "GPT-2, 355 M", kSequence, [](V v) { return gpt2_of(24, 1024, v); }},
    Entry{"gpt2-large", "GPT-2, 774 M", kSequence, [](V v) { return gpt2_of(36, 1280, v); }},
    Entry{"gpt2-xl", "GPT-2, 1.56 G", kSequence, [](V v) { return gpt2_of(48, 1600, v); }},
    Entry{"transformer", "decoder as GPT-2, any blocks, width, sequence and vocabulary",
          kTransformer, transformer},
    Entry{"mlp", "multi-layer perceptron of any widths", kMlp, mlp_of},
    Entry{"cnn", "two convolutions for pictures of 28x28", {}, [](V) { return cnn(); }},
};

/// Spellings that no rule produces.
struct Alias {
  std::string_view name;
  std::string_view full_name;
};
constexpr std::array kAliases{Alias{"mobilenetv1", "mobilenet-keras"}, Alias{"gpt2-small", "gpt2"}};

constexpr std::array<std::string_view, 4> kVariants{"-keras", "-torchvision", "-he2016",
                                                    "-uncased"};

/// The range keeps every count of parameters and bytes within 63 bits.
struct Setting {
  Knob knob;
  std::string_view name;
  std::optional<int> Variation::*value;
  int maximum;
};
constexpr std::array kSettings{
    Setting{Knob::Classes, "classes", &Variation::classes, 10'000'000},
    Setting{Knob::Blocks, "blocks", &Variation::blocks, 10'000},
    Setting{Knob::Width, "width", &Variation::width, 1'000'000},
    Setting{Knob::Sequence, "sequence", &Variation::sequence, 1'000'000},
    Setting{Knob::Vocabulary, "vocabulary", &Variation::vocabulary, 10'000'000},
};
constexpr int kMaximumWidth = 10'000'000;
constexpr std::size_t kMaximumWidths = 1'000;

void require_knob(const Entry& entry, Knob knob) {
  if (std::ranges::find(entry.knobs, knob) != entry.knobs.end()) return;
  std::vector<std::string_view> known;
  for (const Knob k : entry.knobs) known.push_back(name_of(k));
  throw SpecError(fmt::format("model {}: {} cannot be set; it takes {}", entry.name, name_of(knob),
                              fmt::join(known, ", ")));
}

void require_range(const Entry& entry, std::string_view what, int value, int maximum) {
  if (value >= 1 && value <= maximum) return;
  throw SpecError(
      fmt::format("model {}: {} is {}; choose 1 to {}", entry.name, what, value, maximum));
}

void require_widths(const Entry& entry, const std::vector<int>& widths) {
  if (widths.size() < 2 || widths.size() > kMaximumWidths) {
    throw SpecError(fmt::format("model {}: widths has {} values; give 2 to {}, inputs first",
                                entry.name, widths.size(), kMaximumWidths));
  }
  for (const int width : widths) require_range(entry, "widths", width, kMaximumWidth);
}

void require_valid(const Entry& entry, const Variation& variation) {
  for (const Setting& setting : kSettings) {
    const std::optional<int>& value = variation.*setting.value;
    if (!value) continue;
    require_knob(entry, setting.knob);
    require_range(entry, setting.name, *value, setting.maximum);
  }
  if (!variation.widths) return;
  require_knob(entry, Knob::Widths);
  require_widths(entry, *variation.widths);
}

std::string normalised(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

const Entry* find_entry(std::string_view name) {
  const std::string wanted = normalised(name);
  for (const Alias& alias : kAliases) {
    if (normalised(alias.name) == wanted) return find_entry(alias.full_name);
  }
  const auto full =
      std::ranges::find(kEntries, wanted, [](const Entry& e) { return normalised(e.name); });
  if (full != kEntries.end()) return &*full;
  const auto brief = std::ranges::find(
      kEntries, wanted, [](const Entry& e) { return normalised(short_name(e.name)); });
  return brief != kEntries.end() ? &*brief : nullptr;
}

}  // namespace

std::string_view name_of(Knob knob) {
  if (knob == Knob::Widths) return "widths";
  return std::ranges::find(kSettings, knob, &Setting::knob)->name;
}

Model Entry::build(const Variation& variation) const {
  require_valid(*this, variation);
  Model model = architecture(variation);
  model.name = name;
  return model;
}

std::span<const Entry> entries() { return kEntries; }

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const Entry& entry : kEntries) all.push_back(entry.name);
  for (const Entry& entry : kEntries) {
    const std::string_view brief = short_name(entry.name);
    if (std::ranges::find(all, brief) == all.end()) all.push_back(brief);
  }
  for (const Alias& alias : kAliases) all.push_back(alias.name);
  return all;
}

std::string_view short_name(std::string_view full_name) {
  for (const std::string_view variant : kVariants) {
    if (full_name.ends_with(variant)) return full_name.substr(0, full_name.size() - variant.size());
  }
  return full_name;
}

std::optional<Model> find(std::string_view name, const Variation& variation) {
  const Entry* const entry = find_entry(name);
  if (entry == nullptr) return {};
  return entry->build(variation);
}

Model anonymous(Bytes size) {
  check(size >= Bytes(0), "a model has no negative size");
  // Divided first: adding 3 to the largest size would overflow.
  const std::int64_t elements = size.count() / 4 + (size.count() % 4 == 0 ? 0 : 1);
  return {
      .name = exact(size),
      .source = "its size alone",
      .input = "unknown",
      .layers = {{.name = "all", .trainable = elements, .non_trainable = 0, .forward_flops = 0}}};
}

}  // namespace tw::zoo
