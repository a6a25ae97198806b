// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/course.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::size_t kFewest = 5;  ///< collectives: a layer of its own, and what begins and ends
constexpr std::size_t kMostLayers = 80;
constexpr double kSmallestHead = 0.1;  ///< of a layer
constexpr double kLargestHead = 20;
constexpr int kMostJoined = 6;  ///< collectives without a pause that is ever seen

/// What is gathered again on the way back.
enum class Again { AllButHead, HeadFirst, HeadLast, NeitherHeadNorLast, Nothing };

struct Way {
  Again again;
  bool is_ahead;  ///< a layer is gathered before the gradients of the one behind it are scattered
  double prior;
};
/// What frameworks do: PyTorch's fully_shard keeps the root, or gathers it first, or keeps all
/// (ZeRO-2); units beside a root go back in order; some programs keep the last layer as well.
constexpr Way kWays[] = {{Again::AllButHead, true, 0.3},          {Again::HeadFirst, true, 0.25},
                         {Again::HeadLast, false, 0.1},           {Again::HeadLast, true, 0.05},
                         {Again::NeitherHeadNorLast, true, 0.05}, {Again::Nothing, false, 0.25}};

double sum_of(std::span<const double> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0.0);
}

/// Whether so many of each size follow one another as the rounds of all-reduces do.
bool are_rounds(const std::vector<double>& sizes, int hosts) {
  const auto rounds = static_cast<std::size_t>(std::max(2, hosts - 1));
  for (std::size_t first = 0, next = 0; first < sizes.size(); first = next) {
    while (next < sizes.size() && is_same_size(sizes[first], sizes[next])) ++next;
    if ((next - first) % rounds != 0) return false;
  }
  return true;
}

/// Takes apart what holds several collectives of the most frequent size.
std::vector<double> split(const std::vector<double>& sizes) {
  const double unit = kinds_of(sizes).front().size;
  std::vector<double> result;
  for (const double size : sizes) {
    const double times = std::round(size / unit);
    const bool is_several = times >= 2 && times <= kMostJoined && is_same_size(size, times * unit);
    result.insert(result.end(), is_several ? static_cast<std::size_t>(times) : 1,
                  is_several ? unit : size);
  }
  return result;
}

/// Of the sizes on the way forwards, the head first.
std::vector<double> gathered_again(std::span<const double> forwards, Again again) {
  std::vector<double> back(forwards.rbegin(), forwards.rend());
  switch (again) {
    case Again::HeadLast:
      break;
    case Again::HeadFirst:
      std::rotate(back.begin(), back.end() - 1, back.end());
      break;
    case Again::AllButHead:
      back.pop_back();
      break;
    case Again::NeitherHeadNorLast:
      back.pop_back();
      back.erase(back.begin());
      break;
    case Again::Nothing:
      back.clear();
      break;
  }
  return back;
}

/// Small numbers are likelier.
double log_prior_of_count(std::size_t count) {
  const auto n = static_cast<double>(count);
  return -std::log(n * (n + 1));
}

/// That so many sizes which are free have just these values.
double log_prior_of_sizes(std::size_t count) {
  return static_cast<double>(count) * std::log(2 * kSamePlace);
}

/// A step whose way forwards is known; without what it weighs.
Course there_and_back(const std::vector<double>& forwards, const Way& way) {
  Course course{
      .sizes = forwards, .waits = {forwards.size()}, .model = sum_of(forwards), .prior = 0};
  const std::vector<double> again = gathered_again(forwards, way.again);
  auto next = again.begin();
  const auto gather = [&] {
    if (next != again.end()) course.sizes.push_back(*next++);
  };
  if (way.is_ahead) gather();
  for (auto scattered = forwards.rbegin(); scattered != forwards.rend(); ++scattered) {
    gather();
    if (course.waits.back() != course.sizes.size()) course.waits.push_back(course.sizes.size());
    course.sizes.push_back(*scattered);
  }
  return course;
}

/// Layers of one size and a head of another, as transformers have them. Nothing where the head
/// cannot be told from layers.
std::optional<Course> course_of(double layer, std::size_t count, const Way& way) {
  std::vector<double> forwards(count + 1, layer);
  forwards.front() = 0;
  const std::vector<double> layers = there_and_back(forwards, way).sizes;
  const auto heads = static_cast<double>(std::count(layers.begin(), layers.end(), 0.0));
  const double head = (1 - sum_of(layers)) / heads;
  const double times = head / layer;
  if (times < kSmallestHead || times > kLargestHead) return std::nullopt;
  if (std::abs(times - std::round(times)) < kSameSize * std::max(1.0, times)) return std::nullopt;
  forwards.front() = head;
  Course course = there_and_back(forwards, way);
  course.prior = std::log(way.prior) + log_prior_of_sizes(1) + log_prior_of_count(forwards.size());
  return course;
}

/// Whether `all` is two sequences, each in its order.
bool is_shuffle(std::span<const double> all, std::span<const double> one,
                std::span<const double> other) {
  if (all.size() != one.size() + other.size()) return false;
  std::vector<bool> reached(other.size() + 1, false);  // with so many of the other
  reached[0] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<bool> next(other.size() + 1, false);
    for (std::size_t j = 0; j <= std::min(i, other.size()); ++j) {
      if (!reached[j] || i - j > one.size()) continue;
      if (j < other.size() && is_same_size(all[i], other[j])) next[j + 1] = true;
      if (i - j < one.size() && is_same_size(all[i], one[i - j])) next[j] = true;
    }
    reached = std::move(next);
  }
  return reached[other.size()];
}

/// Of sizes in parts of the step, each a collective.
std::vector<Course> courses_of(const std::vector<double>& sizes, int hosts) {
  const std::size_t kinds = kinds_of(sizes).size();
  if (kinds < 2 || sizes.size() < kFewest || are_rounds(sizes, hosts)) return {};
  std::vector<Course> courses;
  for (std::size_t forwards = 2; 2 * forwards <= sizes.size(); ++forwards) {
    const std::span<const double> gathered = std::span(sizes).first(forwards);
    const std::vector<double> scattered(gathered.rbegin(), gathered.rend());
    for (const Way& way : kWays) {
      const std::vector<double> again = gathered_again(gathered, way.again);
      if (!is_shuffle(std::span(sizes).subspan(forwards), again, scattered)) continue;
      courses.push_back({.sizes = sizes,
                         .waits = {forwards},
                         .model = (1 - sum_of(again)) / 2,
                         .prior = std::log(way.prior) + log_prior_of_sizes(kinds - 1) +
                                  log_prior_of_count(forwards)});
    }
  }
  return courses;
}

}  // namespace

bool is_same_size(double a, double b) { return std::abs(a - b) <= kSameSize * std::min(a, b); }

std::vector<SizeKind> kinds_of(std::span<const double> sizes) {
  std::vector<SizeKind> kinds;
  for (const double size : sizes) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const SizeKind& kind) {
      return is_same_size(kind.size, size);
    });
    if (known == kinds.end()) {
      kinds.push_back({size, 1});
    } else {
      ++known->count;
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const SizeKind& a, const SizeKind& b) { return a.count > b.count; });
  return kinds;
}

std::vector<double> Course::ends() const {
  std::vector<double> result(sizes.size());
  std::partial_sum(sizes.begin(), sizes.end(), result.begin());
  result.pop_back();
  return result;
}

std::vector<double> Course::waiting_ends() const {
  const std::vector<double> all = ends();
  std::vector<double> result;
  for (const std::size_t collectives : waits) result.push_back(all[collectives - 1]);
  return result;
}

Course equal_parts(std::size_t count) {
  return {.sizes = std::vector<double>(count, 1 / static_cast<double>(count)),
          .waits = {},
          .model = 0,
          .prior = log_prior_of_count(count),
          .skips = false};
}

std::vector<Course> equal_buckets(double first, double size) {
  std::vector<Course> courses;
  std::vector<double> sizes{first};
  double rest = 1 - first - size;
  for (; rest > kSamePlace && sizes.size() <= kMostLayers; rest -= size) {
    sizes.push_back(size);
    courses.push_back({.sizes = sizes,
                       .waits = {},
                       .model = 0.5,
                       .prior = log_prior_of_sizes(2) + log_prior_of_count(sizes.size())});
    courses.back().sizes.push_back(rest);
  }
  return courses;
}

Course rounds_in_pieces(std::size_t rounds, double piece) {
  Course course{.sizes = {},
                .waits = {},
                .model = 0.5,
                .prior = log_prior_of_sizes(1) + log_prior_of_count(rounds)};
  const double round = 1 / static_cast<double>(rounds);
  for (std::size_t i = 0; i < rounds; ++i) {
    double rest = round;
    for (; rest > piece + kSamePlace; rest -= piece) course.sizes.push_back(piece);
    course.sizes.push_back(rest);
  }
  return course;
}

Course pieces_through(double place, double piece) {
  Course course{.sizes = {}, .waits = {}, .model = 0.5, .prior = log_prior_of_sizes(2)};
  const double first = std::fmod(place, piece);
  if (first > kSamePlace) course.sizes.push_back(first);
  double rest = 1 - first;
  for (; rest > piece + kSamePlace; rest -= piece) {
    course.sizes.push_back(piece + (course.sizes.empty() ? first : 0));
  }
  course.sizes.push_back(rest);
  return course;
}

std::vector<Course> courses_by_sizes(const std::vector<double>& sizes, int hosts) {
  std::vector<double> parts;
  const double all = sum_of(sizes);
  for (const double size : sizes) parts.push_back(size / all);
  std::vector<Course> courses = courses_of(parts, hosts);
  return courses.empty() ? courses_of(split(parts), hosts) : courses;
}

std::vector<Course> courses_of_layers(double layer) {
  std::vector<Course> courses;
  for (std::size_t count = 1; count <= kMostLayers && 2 * static_cast<double>(count) * layer < 1;
       ++count) {
    for (const Way& way : kWays) {
      if (auto course = course_of(layer, count, way)) courses.push_back(std::move(*course));
    }
  }
  return courses;
}

}  // namespace tw::recognise
