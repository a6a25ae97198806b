// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/zoo/zoo.h"

#include <gtest/gtest.h>

namespace tw::zoo {
namespace {

struct Total {
  const char* model;
  std::int64_t parameters;
};

// num_parameters() of BertModel and GPT2Model in Hugging Face transformers.
class TransformerTotals : public ::testing::TestWithParam<Total> {};
TEST_P(TransformerTotals, AreThePublishedOnes) {
  const auto model = find(GetParam().model);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->trainable(), GetParam().parameters);
  EXPECT_EQ(model->non_trainable(), 0);
}
INSTANTIATE_TEST_SUITE_P(Models, TransformerTotals,
                         ::testing::Values(Total{"bert-base-uncased", 109'482'240},
                                           Total{"bert-large-uncased", 335'141'888},
                                           Total{"gpt2", 124'439'808},
                                           Total{"gpt2-medium", 354'823'168},
                                           Total{"gpt2-large", 774'030'080},
                                           Total{"gpt2-xl", 1'557'611'200}));

TEST(Bert, WorkIsTwoPerMatrixWeightAndTokenPlusAttention) {
  // 24 blocks of 12 * 1024^2 matrix weights, 384 tokens; scores and mixing 2 * 384^2 * 1024
  // multiply-adds a block; the pooler sees one token.
  const double matrices = 24.0 * 12 * 1024 * 1024 * 384;
  const double attention = 24.0 * 2 * 384 * 384 * 1024;
  const double pooler = 1024.0 * 1024;
  EXPECT_DOUBLE_EQ(find("bert-large")->forward_flops(), 2 * (matrices + attention + pooler));
  EXPECT_EQ(find("bert-large")->input, "384 tokens");
}

TEST(Bert, KeepsItsParametersAtAnotherSequence) {
  const Model brief = *find("bert-large", {.sequence = 128});
  EXPECT_EQ(brief.trainable(), 335'141'888);
  EXPECT_EQ(brief.input, "128 tokens");
  EXPECT_LT(brief.forward_flops(), find("bert-large")->forward_flops() / 3);
}

TEST(Bert, RefusesASequenceBeyondItsPositions) {
  EXPECT_NO_THROW(find("bert-large", {.sequence = 512}));
  EXPECT_THROW(find("bert-large", {.sequence = 513}), SpecError);
  EXPECT_THROW(find("gpt2", {.sequence = 1025}), SpecError);
}

TEST(Gpt2, ProjectsToTheVocabularyWithoutMoreParameters) {
  const Layer head = find("gpt2")->layers.back();
  // 1024 tokens times a matrix of 768 x 50257.
  EXPECT_EQ(head, (Layer{"lm_head", 0, 0, 2.0 * 1024 * 768 * 50257}));
}

TEST(Transformer, IsGpt2UnlessChanged) {
  EXPECT_EQ(find("transformer")->layers, find("gpt2")->layers);
}

TEST(Transformer, GrowsAsItsShapeSays) {
  const Model model =
      *find("transformer", {.blocks = 2, .width = 64, .sequence = 32, .vocabulary = 100});
  // A block has 12 w^2 + 13 w; embeddings (100 + 32) w; the last norm 2 w.
  EXPECT_EQ(model.trainable(), 2 * (12 * 64 * 64 + 13 * 64) + 132 * 64 + 2 * 64);
  // Matrices 12 w^2 and attention 2 s w a block and token, logits 100 w a token.
  EXPECT_DOUBLE_EQ(model.forward_flops(), 2.0 * 32 * (2 * (12 * 64 * 64 + 2 * 32 * 64) + 100 * 64));
}

TEST(Mlp, CountsWeightsAndBiases) {
  // 785*256 + 257*256 + 257*10.
  EXPECT_EQ(find("mlp")->trainable(), 269'322);
  EXPECT_EQ(find("mlp")->input, "784 values");
  EXPECT_EQ(find("mlp", {.widths = std::vector{3, 2}})->trainable(), 8);
  EXPECT_DOUBLE_EQ(find("mlp", {.widths = std::vector{3, 2}})->forward_flops(), 12);
}

}  // namespace
}  // namespace tw::zoo
