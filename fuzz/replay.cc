// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over every file of a corpus folder, so that each build, sanitised or not,
// keeps what fuzzing has found fixed. Prints the number of inputs; fails when there is none, and
// when one of them takes more time or memory than any honest input of its size.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Of processor time, in any build.
constexpr double kMostSeconds = 20;
/// Of the whole process, what is loaded and the sanitizer's own included.
constexpr long kMostKilobytes = 1'000'000;

double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

long most_kilobytes() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: replay CORPUS_FOLDER\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const double before = seconds_used();
    ::alarm(10 * static_cast<unsigned>(kMostSeconds));  // one that never ends is ended
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (seconds_used() - before > kMostSeconds || most_kilobytes() > kMostKilobytes) {
      std::fprintf(stderr, "%s: %.1f s, %ld kB\n", file.c_str(), seconds_used() - before,
                   most_kilobytes());
      return 1;
    }
  }
  std::printf("%zu inputs replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
