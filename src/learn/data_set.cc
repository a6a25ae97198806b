// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/data_set.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

namespace tw::learn {
namespace {

namespace fs = std::filesystem;

/// Larger files are no set that a processor is meant to learn.
constexpr std::size_t kLargestFile = std::size_t{1} << 30;

std::string folder_of(const std::string& name) {
  return name == kFashionMnist ? kFashionMnistFolder : name;
}

/// Plain or packed, whichever is there; "" when neither is.
std::string found(const fs::path& folder, const std::string& file) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz"}) {
    const fs::path path = folder / (file + ending);
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return {};
}

/// zlib reads plain files as they are.
std::vector<std::byte> content(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), ::gzclose);
  if (!file) throw SystemError(fmt::format("cannot read {}; is it readable for you?", path));
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t before = bytes.size();
    if (before > kLargestFile) {
      throw DataError(fmt::format("{}: more than 1 GiB of samples; give a smaller set", path));
    }
    bytes.resize(before + kStep);
    const int read = ::gzread(file.get(), bytes.data() + before, kStep);
    if (read < 0) throw DataError(fmt::format("{}: is damaged; fetch it again", path));
    bytes.resize(before + static_cast<std::size_t>(read));
    if (read == 0) break;
  }
  int state = Z_OK;
  ::gzerror(file.get(), &state);
  if (state != Z_OK) throw DataError(fmt::format("{}: ends too early; fetch it again", path));
  return bytes;
}

Samples read_samples(const fs::path& folder, const std::string& prefix) {
  const std::string pictures = found(folder, prefix + "-images-idx3-ubyte");
  const std::string kinds = found(folder, prefix + "-labels-idx1-ubyte");
  Samples samples{.pictures = read_pictures(content(pictures), pictures),
                  .kinds = read_kinds(content(kinds), kinds)};
  if (samples.count() != samples.pictures.count() || samples.count() == 0) {
    throw DataError(
        fmt::format("{}: {} labels for {} pictures; the files are not of one set, fetch "
                    "them again",
                    kinds, samples.count(), samples.pictures.count()));
  }
  return samples;
}

constexpr int kSyntheticKinds = 10;
constexpr int kSide = 28;
constexpr int kFarthest = 2;

/// A few waves of random direction, from 0 to 1.
std::vector<double> smooth_picture(Random& random) {
  std::vector<double> values(kSide * kSide, 0.5);
  for (int wave = 0; wave < 4; ++wave) {
    const double angle = 2 * M_PI * random.uniform();
    const double length = 8 + 16 * random.uniform();
    const double shift = 2 * M_PI * random.uniform();
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const double along = x * std::cos(angle) + y * std::sin(angle);
        values[static_cast<std::size_t>(y * kSide + x)] +=
            0.12 * std::sin(2 * M_PI * along / length + shift);
      }
    }
  }
  return values;
}

Samples drawn(std::int64_t count, const std::vector<std::vector<double>>& kinds, Random& random) {
  Samples samples;
  samples.pictures = {.height = kSide, .width = kSide, .pixels = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<std::uint8_t>(random.below(kSyntheticKinds));
    samples.kinds.push_back(kind);
    const int dx = static_cast<int>(random.below(2 * kFarthest + 1)) - kFarthest;
    const int dy = static_cast<int>(random.below(2 * kFarthest + 1)) - kFarthest;
    const double light = 0.6 + 0.4 * random.uniform();
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const int from_y = std::clamp(y + dy, 0, kSide - 1);
        const int from_x = std::clamp(x + dx, 0, kSide - 1);
        const double noise = 0.35 * (random.uniform() + random.uniform() - 1);
        const double value =
            light * kinds[kind][static_cast<std::size_t>(from_y * kSide + from_x)] + noise;
        samples.pictures.pixels.push_back(
            static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))));
      }
    }
  }
  return samples;
}

}  // namespace

int DataSet::kinds() const {
  int most = 0;
  for (const Samples* samples : {&train, &test}) {
    if (samples->count() > 0) most = std::max<int>(most, *std::ranges::max_element(samples->kinds));
  }
  return most + 1;
}

std::string data_problem(const std::string& name) {
  if (name == kSynthetic) return {};
  const std::string folder = folder_of(name);
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    if (!found(folder, file).empty()) continue;
    const std::string remedy =
        name == kFashionMnist
            ? "install it with `apt-get install dataset-fashion-mnist`"
            : "data names \"fashion-mnist\", \"synthetic\" or a folder of four such files";
    return fmt::format("there is no {} in {}; {}, or take data = \"synthetic\"", file, folder,
                       remedy);
  }
  return {};
}

DataSet load_data(const std::string& name, std::uint64_t seed) {
  constexpr std::int64_t kTrain = 20'000;
  constexpr std::int64_t kTest = 4'000;
  if (name == kSynthetic) return synthetic_data(seed, kTrain, kTest);
  if (const std::string problem = data_problem(name); !problem.empty()) throw SystemError(problem);
  const std::string folder = folder_of(name);
  DataSet set{
      .name = name, .train = read_samples(folder, "train"), .test = read_samples(folder, "t10k")};
  const Pictures& train = set.train.pictures;
  const Pictures& test = set.test.pictures;
  if (train.height != test.height || train.width != test.width) {
    throw DataError(
        fmt::format("{}: pictures of {} x {} to learn from and of {} x {} to be judged "
                    "by; give files of one set",
                    folder, train.height, train.width, test.height, test.width));
  }
  return set;
}

DataSet synthetic_data(std::uint64_t seed, std::int64_t train, std::int64_t test) {
  Random random(seed, "synthetic pictures");
  std::vector<std::vector<double>> kinds;
  for (int i = 0; i < kSyntheticKinds; ++i) kinds.push_back(smooth_picture(random));
  DataSet set{.name = kSynthetic, .train = drawn(train, kinds, random), .test = {}};
  set.test = drawn(test, kinds, random);
  return set;
}

}  // namespace tw::learn
