// SPDX-License-Identifier: Apache-2.0
// BERT and GPT-2. Heads split the width and change neither parameters nor FLOPs, so they do not
// appear. Attention counts the full square of scores also where a causal mask hides half of it,
// as dense kernels compute it.
#include "trainwire/base/error.h"
#include "trainwire/zoo/architectures.h"

#include <fmt/format.h>

namespace tw::zoo {
namespace {

class TransformerBuilder {
 public:
  explicit TransformerBuilder(const Transformer& shape) : shape_(shape) {}

  /// A look-up: parameters without multiply-adds.
  void embedding(std::string name, std::int64_t rows) { add(std::move(name), rows * width(), 0); }

  void layer_norm(std::string name) { add(std::move(name), 2 * width(), 0); }

  /// `tokens` rows times a matrix with bias.
  void linear(std::string name, std::int64_t inputs, std::int64_t outputs, int tokens) {
    add(std::move(name), (inputs + 1) * outputs,
        static_cast<double>(inputs * outputs) * static_cast<double>(tokens));
  }
  void linear(std::string name, std::int64_t inputs, std::int64_t outputs) {
    linear(std::move(name), inputs, outputs, shape_.sequence);
  }

  /// Scores (queries times keys) and their product with the values: two products of s*s*width.
  void attention(std::string name) {
    const double s = shape_.sequence;
    add(std::move(name), 0, 2 * s * s * static_cast<double>(width()));
  }

  /// Logits from the token embedding used a second time.
  void tied_projection(std::string name) {
    add(std::move(name), 0,
        static_cast<double>(width() * shape_.vocabulary) * static_cast<double>(shape_.sequence));
  }

  std::int64_t width() const { return shape_.width; }

  Model take(std::string source) && {
    return {.name = {},
            .source = std::move(source),
            .input = fmt::format("{} tokens", shape_.sequence),
            .layers = std::move(layers_)};
  }

 private:
  void add(std::string name, std::int64_t trainable, double multiply_adds) {
    layers_.push_back({.name = std::move(name),
                       .trainable = trainable,
                       .non_trainable = 0,
                       .forward_flops = 2 * multiply_adds});
  }

  Transformer shape_;
  std::vector<Layer> layers_;
};

void encoder_block(TransformerBuilder& net, const std::string& name) {
  const std::int64_t w = net.width();
  net.linear(name + ".attention.self.query", w, w);
  net.linear(name + ".attention.self.key", w, w);
  net.linear(name + ".attention.self.value", w, w);
  net.attention(name + ".attention.self");
  net.linear(name + ".attention.output.dense", w, w);
  net.layer_norm(name + ".attention.output.LayerNorm");
  net.linear(name + ".intermediate.dense", w, 4 * w);
  net.linear(name + ".output.dense", 4 * w, w);
  net.layer_norm(name + ".output.LayerNorm");
}

void decoder_block(TransformerBuilder& net, const std::string& name) {
  const std::int64_t w = net.width();
  net.layer_norm(name + ".ln_1");
  net.linear(name + ".attn.c_attn", w, 3 * w);
  net.attention(name + ".attn");
  net.linear(name + ".attn.c_proj", w, w);
  net.layer_norm(name + ".ln_2");
  net.linear(name + ".mlp.c_fc", w, 4 * w);
  net.linear(name + ".mlp.c_proj", 4 * w, w);
}

void require_positions(const Transformer& shape) {
  if (shape.sequence <= shape.positions) return;
  throw SpecError(
      fmt::format("sequence of {} tokens: the model has {} positions; choose at most {}",
                  shape.sequence, shape.positions, shape.positions));
}

}  // namespace

Model bert(const Transformer& shape) {
  require_positions(shape);
  TransformerBuilder net(shape);
  net.embedding("embeddings.word_embeddings", shape.vocabulary);
  net.embedding("embeddings.position_embeddings", shape.positions);
  net.embedding("embeddings.token_type_embeddings", 2);
  net.layer_norm("embeddings.LayerNorm");
  for (int i = 0; i < shape.blocks; ++i) encoder_block(net, fmt::format("encoder.layer.{}", i));
  net.linear("pooler.dense", shape.width, shape.width, 1);
  return std::move(net).take("Hugging Face transformers");
}

Model gpt(const Transformer& shape) {
  require_positions(shape);
  TransformerBuilder net(shape);
  net.embedding("wte", shape.vocabulary);
  net.embedding("wpe", shape.positions);
  for (int i = 0; i < shape.blocks; ++i) decoder_block(net, fmt::format("h.{}", i));
  net.layer_norm("ln_f");
  net.tied_projection("lm_head");
  return std::move(net).take("Hugging Face transformers");
}

}  // namespace tw::zoo
