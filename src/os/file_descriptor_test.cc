// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/file_descriptor.h"

#include "trainwire/base/error.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

namespace tw::os {
namespace {

bool is_known_to_the_kernel(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

FileDescriptor null_device() { return open_to_read("/dev/null"); }

TEST(FileDescriptor, ClosesWhatItOwns) {
  int number = -1;
  {
    const FileDescriptor fd = null_device();
    number = fd.get();
    EXPECT_TRUE(is_known_to_the_kernel(number));
  }
  EXPECT_FALSE(is_known_to_the_kernel(number));
}

TEST(FileDescriptor, MovesOwnership) {
  FileDescriptor a = null_device();
  const int number = a.get();
  FileDescriptor b(std::move(a));
  EXPECT_EQ(b.get(), number);
  FileDescriptor c;
  c = std::move(b);
  EXPECT_EQ(c.get(), number);
  c.close("the null device");
  EXPECT_FALSE(c.is_open());
  EXPECT_FALSE(is_known_to_the_kernel(number));
}

TEST(FileDescriptor, ReportsAFailedClose) {
  FileDescriptor stranger(1 << 20);  // never opened
  EXPECT_THROW(stranger.close("a stranger"), SystemError);
}

TEST(OpenToRead, SaysWhyItCannot) {
  EXPECT_THAT(
      [] { open_to_read("/no/such/file"); },
      testing::ThrowsMessage<SystemError>("opening /no/such/file: No such file or directory"));
  EXPECT_THROW(open_to_write("/no/such/file"), SystemError);
}

TEST(FileKind, TellsFilesFromFoldersAndStreams) {
  EXPECT_EQ(file_kind(open_to_read("/proc/self/exe")), FileKind::Regular);
  EXPECT_EQ(file_kind(open_to_read("/")), FileKind::Directory);
  EXPECT_EQ(file_kind(null_device()), FileKind::Stream);
  EXPECT_THROW(file_kind(FileDescriptor()), SystemError);
}

TEST(WriteAll, ArrivesAtTheOtherEndOfAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const std::array<std::byte, 3> sent{std::byte{1}, std::byte{2}, std::byte{3}};
  write_all(writing, sent, "the pipe");
  writing.close("the pipe");
  std::array<std::byte, 8> received{};
  EXPECT_EQ(read_some(reading, received), 3);
  EXPECT_EQ(received[2], std::byte{3});
  EXPECT_EQ(read_some(reading, received), 0);
}

TEST(WriteAll, ThrowsWhenTheDiskIsFull) {
  const FileDescriptor full = open_to_write("/dev/full");
  EXPECT_THAT([&] { write_all(full, std::array<std::byte, 1>{}, "x.pcap"); },
              testing::ThrowsMessage<SystemError>("writing x.pcap: No space left on device"));
}

TEST(OpenInPlace, ReplacesALinkAndLeavesWhatItPointsTo) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "open_in_place";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "victim") << "precious";
  std::filesystem::create_symlink("victim", folder / "ours");
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  for (const char* name : {"ours", "dangling", "ours"}) {
    const FileDescriptor file = open_in_place(folder / name);
    write_all(file, std::array<std::byte, 3>{}, name);
    EXPECT_FALSE(std::filesystem::is_symlink(folder / name));
    EXPECT_EQ(std::filesystem::file_size(folder / name), 3u);
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "victim"), 8u);
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
  std::filesystem::remove_all(folder);
}

TEST(ReadSome, ReturnsMinusOneForAFolder) {
  std::array<std::byte, 8> buffer{};
  EXPECT_EQ(read_some(open_to_read("/"), buffer), -1);
}

}  // namespace
}  // namespace tw::os
