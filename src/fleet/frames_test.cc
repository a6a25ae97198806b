// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/frames.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

namespace tw::fleet {
namespace {

TEST(Frames, ComeOutAsTheyWentInHoweverTheyAreCut) {
  const Frame first{.kind = FrameKind::Message, .channel = 0, .content = "{\"a\":1}"};
  const Frame second{.kind = FrameKind::Bytes, .channel = 70'000, .content = std::string(3, '\0')};
  const std::string bytes = encode(first) + encode(second);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader(kMostContent);
    reader.take(std::string_view(bytes).substr(0, cut));
    std::vector<Frame> found;
    while (auto frame = reader.next()) found.push_back(*frame);
    reader.take(std::string_view(bytes).substr(cut));
    while (auto frame = reader.next()) found.push_back(*frame);
    EXPECT_EQ(found, (std::vector<Frame>{first, second})) << "cut at " << cut;
  }
}

TEST(Frames, RefuseALengthBeforeItIsKept) {
  FrameReader reader(kMostHello);
  reader.take(std::string("\x7f\xff\xff\xff", 4));
  EXPECT_THROW(reader.next(), DataError);
}

TEST(Frames, RefuseAnUnknownKind) {
  std::string bytes = encode({});
  bytes[4] = 9;
  FrameReader reader(kMostContent);
  reader.take(bytes);
  EXPECT_THROW(reader.next(), DataError);
}

}  // namespace
}  // namespace tw::fleet
