// SPDX-License-Identifier: Apache-2.0
// The architectures, one function per family and library: zoo.cc gives them names and sizes.
//
// Layers are named as the library names them (Keras as of TensorFlow 2, torchvision's state
// dictionaries, Hugging Face transformers). Every model returned here is still without a name.

#pragma once

#include "trainwire/zoo/model.h"

#include <array>
#include <span>

namespace tw::zoo {

inline constexpr const char* kKeras = "Keras applications";
inline constexpr const char* kTorchvision = "torchvision";

/// Bottlenecks in each of the four stages.
using Stages = std::array<int, 4>;

/// He et al. 2015 (arXiv:1512.03385): convolutions with bias, a stage's stride on its first 1x1.
Model resnet_keras(const Stages& stages, int classes);
/// "ResNet v1.5": convolutions without bias, a stage's stride on its first 3x3.
Model resnet_torchvision(const Stages& stages, int classes);
/// He et al. 2016 (arXiv:1603.05027): normalisation and activation before each convolution,
/// projections without normalisation, the first unit sharing conv1's; running statistics not
/// counted.
Model resnet_preactivated(const Stages& stages, int classes);

struct DenseNet {
  Stages blocks;  ///< dense layers in each of the four dense blocks
  int growth = 32;
  int stem = 64;  ///< channels after the first convolution
};
/// Huang et al. 2017 (arXiv:1608.06993), bottlenecks of four times the growth, compression 0.5.
Model densenet_keras(const DenseNet& net, int classes);
Model densenet_torchvision(const DenseNet& net, int classes);

/// Howard et al. 2017 (arXiv:1704.04861), width 1.0; its head is a 1x1 convolution.
Model mobilenet_keras(int classes);
/// Sandler et al. 2018 (arXiv:1801.04381), width 1.0.
Model mobilenetv2_keras(int classes);
Model mobilenetv2_torchvision(int classes);

/// Szegedy et al. 2016 (arXiv:1512.00567), 299x299. Keras leaves out the auxiliary classifier and
/// the scale of the batch normalisations; torchvision has both and trains the auxiliary one along.
Model inceptionv3_keras(int classes);
Model inceptionv3_torchvision(int classes);

/// Simonyan & Zisserman 2015 (arXiv:1409.1556): 3x3 convolutions in each of the five blocks.
Model vgg_keras(const std::array<int, 5>& blocks, int classes);
Model vgg_torchvision(const std::array<int, 5>& blocks, int classes);

struct Transformer {
  int blocks;
  int width;
  int sequence;  ///< tokens of one sample: what FLOPs refer to
  int positions;
  int vocabulary;
};
/// Devlin et al. 2019 (arXiv:1810.04805): encoder with pooler, without a task's head.
/// Throws SpecError if the sequence is longer than the positions.
Model bert(const Transformer& shape);
/// Radford et al. 2019: decoder with learned positions; the output projection is the token
/// embedding again, so it adds FLOPs and no parameters. Throws SpecError as bert().
Model gpt(const Transformer& shape);

/// Dense layers from widths[0] inputs to widths.back() outputs. REQUIRES: at least two widths.
Model mlp(std::span<const int> widths);

/// Small enough to be trained on a processor: for 28x28 grey pictures of ten kinds, two padded
/// convolutions of 3x3 (16 and 32 filters), each halved by pooling, and two dense layers (128, 10).
Model cnn();

}  // namespace tw::zoo
