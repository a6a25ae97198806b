// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/output_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

namespace tw::result {
namespace {

namespace fs = std::filesystem;
using result::content;
using result::IfThere;
using result::TestFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename());
  return names;
}

void put(OutputFolder& folder, const std::string& name, std::string_view text) {
  OutputFile file(folder, name, "csv");
  file.write(text);
  file.put(1);
}

TEST(ExportFolder, PutsFilesInPlaceAndListsThem) {
  const TestFolder place;
  OutputFolder folder(place / "new/out", IfThere::Refuse);
  put(folder, "a.csv", "x\n");
  put(folder, "figures/b.csv", "yy\n");
  EXPECT_EQ(content(place / "new/out/figures/b.csv"), "yy\n");
  EXPECT_THAT(names_in(place / "new/out"), ElementsAre("a.csv", "export.json", "figures"));
  EXPECT_EQ(folder.written()[1].bytes, 3);
}

TEST(ExportFolder, LeavesNothingOfAFileThatWasNotFinished) {
  const TestFolder place;
  {
    OutputFolder folder(place / "out", IfThere::Refuse);
    OutputFile file(folder, "figures/a.csv", "csv");
    file.write("half");
    EXPECT_EQ(names_in(place / "out/figures").size(), 1);  // under its temporary name
  }
  EXPECT_FALSE(fs::exists(place / "out"));
}

TEST(ExportFolder, ReplacesItsOwnFilesAndNoOthers) {
  const TestFolder place;
  const std::string out = place / "out";
  {
    OutputFolder first(out, IfThere::Refuse);
    put(first, "a.csv", "1");
  }
  std::ofstream(out + "/mine.csv") << "precious";
  OutputFolder second(out, IfThere::Refuse);
  put(second, "a.csv", "2");
  EXPECT_EQ(content(out + "/a.csv"), "2");
  EXPECT_THROW(put(second, "mine.csv", "3"), SystemError);
  EXPECT_EQ(content(out + "/mine.csv"), "precious");
  OutputFolder third(out, IfThere::Replace);
  put(third, "mine.csv", "3");
  EXPECT_EQ(content(out + "/mine.csv"), "3");
}

TEST(ExportFolder, RefusesAFolderWithOtherThings) {
  const TestFolder place;
  place.file("letter.txt", "Dear reader");
  try {
    OutputFolder folder(place / "", IfThere::Refuse);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--force"));
  }
}

TEST(ExportFolder, SaysWhyItCannotBeCreated) {
  const TestFolder place;
  const std::string file = place.file("file", "");
  try {
    OutputFolder folder(file + "/out", IfThere::Refuse);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("Not a directory"), HasSubstr("--out")));
  }
}

}  // namespace
}  // namespace tw::result
