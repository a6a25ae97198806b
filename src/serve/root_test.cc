// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/root.h"

#include "trainwire/result/test_folder.h"
#include "trainwire/serve/refusal.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace tw::serve {
namespace {

using result::TestFolder;
using testing::HasSubstr;

/// top/ has root/, which is served, and beside it a run that is not.
class ServedFolder {
 public:
  ServedFolder() {
    std::filesystem::create_directories(top_ / "root/a/b.run");
    std::filesystem::create_directories(top_ / "secret.run");
    std::filesystem::create_directories(top_ / "root2");
    top_.file("root/a/b.run/run.json", "{}");
    top_.file("secret.run/run.json", "{}");
    top_.file("root2/run.json", "{}");
  }
  std::string path() const { return top_ / "root"; }
  std::string outside(std::string_view name) const { return top_ / name; }

 private:
  TestFolder top_;
};

/// 200 when there is a run.
int status_of(const Root& root, std::string_view id) {
  try {
    root.folder_of(id);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

TEST(Root, FindsARunById) {
  const ServedFolder served;
  const Root root(served.path());
  EXPECT_EQ(root.folder_of("a/b.run"), served.path() + "/a/b.run");
  EXPECT_EQ(status_of(root, "a//b.run"), 200);
  EXPECT_EQ(status_of(root, "./a/b.run"), 200);
}

TEST(Root, MayItselfBeARun) {
  const ServedFolder served;
  const std::string run = served.path() + "/a/b.run";
  EXPECT_EQ(Root(run).folder_of("."), run);
}

TEST(Root, RefusesWhatLeadsOutByName) {
  const ServedFolder served;
  const Root root(served.path());
  for (const std::string& id : {std::string("../secret.run"), std::string("a/../../secret.run"),
                                std::string("a/../a/b.run"), std::string(".."),
                                std::string("../root2"), served.outside("secret.run")}) {
    EXPECT_EQ(status_of(root, id), 403) << id;
  }
}

TEST(Root, RefusesWhatIsNoId) {
  const ServedFolder served;
  const Root root(served.path());
  EXPECT_EQ(status_of(root, ""), 400);
  EXPECT_EQ(status_of(root, std::string_view("a/b.run\0", 8)), 400);
  EXPECT_EQ(status_of(root, std::string(5000, 'a')), 400);
}

TEST(Root, RefusesALinkThatLeadsOut) {
  const ServedFolder served;
  std::filesystem::create_symlink(served.outside("secret.run"), served.path() + "/link.run");
  std::filesystem::create_symlink(served.outside("."), served.path() + "/up");
  const Root root(served.path());
  EXPECT_EQ(status_of(root, "link.run"), 403);
  EXPECT_EQ(status_of(root, "up/secret.run"), 403);
  // A neighbour whose name begins like the root's.
  EXPECT_EQ(status_of(root, "up/root2"), 403);
}

TEST(Root, FollowsALinkThatStaysInside) {
  const ServedFolder served;
  std::filesystem::create_symlink("a/b.run", served.path() + "/link.run");
  EXPECT_EQ(status_of(Root(served.path()), "link.run"), 200);
}

TEST(Root, KnowsWhereThereIsNoRun) {
  const ServedFolder served;
  std::filesystem::create_symlink("loop", served.path() + "/loop");
  const Root root(served.path());
  EXPECT_EQ(status_of(root, "a"), 404);
  EXPECT_EQ(status_of(root, "."), 404);
  EXPECT_EQ(status_of(root, "absent.run"), 404);
  EXPECT_EQ(status_of(root, "a/b.run/run.json"), 404);
  EXPECT_EQ(status_of(root, "loop"), 404);
  // Nobody decodes a second time: this is a name like any other.
  EXPECT_EQ(status_of(root, "%2e%2e/secret.run"), 404);
  EXPECT_EQ(status_of(root, std::string(300, 'a')), 404);
}

TEST(Root, NeedsAFolder) {
  const ServedFolder served;
  for (const std::string name : {"/absent", "/a/b.run/run.json"}) {
    try {
      const Root root(served.path() + name);
      FAIL() << name;
    } catch (const SystemError& error) {
      EXPECT_THAT(error.what(), HasSubstr("give a folder that holds runs"));
    }
  }
}

}  // namespace
}  // namespace tw::serve
