// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/rdma.h"

#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace tw::medium {
namespace {

TEST(Rdma, PacketsAreTheLargestThatFit) {
  const spec::Vocabulary words{
      .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
  const auto payload = [&words](const std::string& text) {
    const spec::Experiment asked = spec::parse("[network]\n" + text, "x.toml", words, {});
    return rdma_options(asked.network, {}, 10_Gbit).payload_bytes;
  };
  EXPECT_EQ(payload("mtu = 1500\n"), 1024);
  EXPECT_EQ(payload("mtu = 9000\n"), 4096);
  EXPECT_EQ(payload("mtu = 576\n"), 512);
  EXPECT_EQ(payload("mtu = 4170\nip_version = 6\n"), 2048);
}

}  // namespace
}  // namespace tw::medium
