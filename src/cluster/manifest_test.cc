// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/manifest.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::cluster {
namespace {

using testing::HasSubstr;

TEST(Manifest, HasOnePodAHostAndTheTokenAsASecret) {
  const std::string text = kubernetes_manifest({.name = "Ring of four!",
                                                .image = "registry/trainwire:1",
                                                .experiment = "[network]\nhosts = 4\n",
                                                .token = "00112233445566778899aabbccddeeff",
                                                .hosts = 4});
  EXPECT_THAT(text, HasSubstr("  completions: 4\n  parallelism: 4\n"));
  EXPECT_THAT(text, HasSubstr("    [network]\n    hosts = 4\n---"));
  EXPECT_THAT(text, HasSubstr("trainwire host --join ring-of-four-0.ring-of-four:29600"));
  // Once, in the Secret: never among the words of a command.
  EXPECT_EQ(text.find("00112233"), text.rfind("00112233"));
}

TEST(Manifest, RefusesAnImageThatWouldBeMoreThanAName) {
  for (const char* image : {"", "a\"\n          command: [x]", "a b", "a{name}", "a\\n"}) {
    EXPECT_THROW(kubernetes_manifest({.image = image, .experiment = "", .token = ""}), SpecError)
        << image;
  }
  EXPECT_THAT(kubernetes_manifest(
                  {.image = "r.io:5000/a/b_c:1.0@sha256:ab", .experiment = "", .token = ""}),
              HasSubstr("image: \"r.io:5000/a/b_c:1.0@sha256:ab\"\n"));
}

TEST(Manifest, AsksForTheRightToShapeWhereThatIsWanted) {
  const std::string text =
      kubernetes_manifest({.image = "a", .experiment = "", .token = "", .shapes = true});
  EXPECT_THAT(text, HasSubstr(R"(add: ["NET_RAW", "NET_ADMIN"])"));
  EXPECT_THAT(text, HasSubstr("--launch wait --port 29600 --shape -o"));
}

// "on" and "null" would be no text in YAML.
TEST(Manifest, QuotesNames) {
  EXPECT_THAT(kubernetes_manifest({.name = "On", .image = "a", .experiment = "", .token = ""}),
              HasSubstr("  name: \"on\"\n"));
}

TEST(Manifest, NamesObjectsAsKubernetesAllows) {
  EXPECT_EQ(object_name("--A_b  C--"), "a-b-c");
  EXPECT_EQ(object_name("???"), "trainwire");
  EXPECT_EQ(object_name("4 hosts"), "job-4-hosts");
  EXPECT_LE(object_name(std::string(100, 'x')).size(), 50U);
}

}  // namespace
}  // namespace tw::cluster
