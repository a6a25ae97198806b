// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/captured.h"

#include "trainwire/base/error.h"
#include "trainwire/gather/conclude.h"
#include "trainwire/gather/glimpse.h"
#include "trainwire/gather/partial.h"
#include "trainwire/gather/source.h"
#include "trainwire/gather/vantage.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace tw::gather {
namespace {

/// Batches between two calls of ReadOptions::progress.
constexpr int kProgressEvery = 32;
/// Small flows that a part remembers one by one.
constexpr std::size_t kMostSmall = 10'000;

/// A point of view that is being read.
struct Vantage {
  std::unique_ptr<flow::FlowTable> table;
  const Glimpse* last_file;
  std::vector<flow::Flow> small = {};  ///< of a part: those that were only counted
};

class TrafficReader {
 public:
  explicit TrafficReader(const ReadOptions& options) : options_(options) {
    if (!options.filter.empty()) filter_.emplace(options.filter);
  }

  Captured read(std::span<const std::string> paths) {
    read_all(paths);
    return finish();
  }

  /// What each point of view saw, not yet combined.
  std::vector<PartialView> read_apart(std::span<const std::string> paths) {
    is_part_ = true;
    read_all(paths);
    std::vector<PartialView> parts(vantages_.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].view = flow::view_of(*vantages_[i].table);
      vantages_[i].table.reset();
      parts[i].small = std::move(vantages_[i].small);
      parts[i].home = vantages_[i].last_file->home;
      parts[i].addresses = traffic_.addresses;
    }
    for (const FileSummary& file : traffic_.files) parts[file.view].files.push_back(file);
    for (PartialView& part : parts) compact(part);
    return parts;
  }

 private:
  void read_all(std::span<const std::string> paths) {
    open(paths);
    for (const std::size_t number : by_beginning()) {
      if (stopped_) break;
      read_file(number);
    }
  }

  void open(std::span<const std::string> paths) {
    traffic_.files.resize(paths.size());
    for (const std::string& path : paths) {
      files_.push_back(paths.size() == 1 && !is_part_ ? whole(path) : glimpse(path, filter()));
      traffic_.files[files_.size() - 1].path = path;
      const std::int64_t bytes = files_.back().file_bytes;
      all_bytes_ = bytes == 0 || all_bytes_ < 0 ? -1 : all_bytes_ + bytes;
    }
  }

  /// A single file needs no look ahead.
  static Glimpse whole(const std::string& path) {
    Glimpse file{.path = path};
    file.reader = capture::open_capture(path);
    file.file_bytes = file.reader->facts().file_bytes;
    return file;
  }

  Filter* filter() { return filter_.has_value() ? &*filter_ : nullptr; }

  std::vector<std::size_t> by_beginning() const {
    std::vector<std::size_t> order(files_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return files_[a].first_ns < files_[b].first_ns;
    });
    return order;
  }

  std::size_t vantage_for(const Glimpse& file) {
    for (std::size_t i = 0; i < vantages_.size(); ++i) {
      const flow::Totals& totals = vantages_[i].table->totals();
      if (totals.packets == 0 ||
          continues(file, *vantages_[i].last_file, totals.first_ns, totals.last_ns)) {
        return i;
      }
    }
    flow::TableOptions options = options_.table;
    options.milestones |= files_.size() > 1 || is_part_;
    const std::size_t number = vantages_.size();
    vantages_.push_back(
        {.table = std::make_unique<flow::FlowTable>(
             options, [this, number](const flow::Flow& flow) { report_retired(flow, number); }),
         .last_file = nullptr});
    for (const Vantage& vantage : vantages_) {
      vantage.table->limit(options.most_windows / vantages_.size(),
                           options.most_bursts / vantages_.size());
    }
    return number;
  }

  void read_file(std::size_t number) {
    Glimpse& file = files_[number];
    const std::size_t vantage = vantage_for(file);
    vantages_[vantage].last_file = &file;
    reading_ = &file;
    flow::FlowTable& table = *vantages_[vantage].table;
    const flow::Totals before = table.totals();
    if (file.reader == nullptr) file.reader = capture::open_capture(file.path);
    const auto source = open_source(
        {.path = file.path, .reader = std::move(file.reader), .first = std::move(file.packets)},
        numbering_, filter());
    int batches = 0;
    while (const Batch* batch = source->next()) {
      traffic_.addresses.insert(traffic_.addresses.end(), batch->addresses.begin(),
                                batch->addresses.end());
      table.take(batch->packets);
      if (options_.progress && ++batches % kProgressEvery == 0) {
        options_.progress(done_bytes_ + batch->position, std::max<std::int64_t>(all_bytes_, 0));
      }
      stopped_ = options_.stop && options_.stop();
      if (stopped_) break;
    }
    done_bytes_ += file.file_bytes;
    summarise(traffic_.files[number], *source, before, table.totals());
    traffic_.files[number].view = vantage;
  }

  void summarise(FileSummary& summary, Source& source, const flow::Totals& before,
                 const flow::Totals& after) const {
    source.stop();
    summary.facts = source.facts();
    summary.damage = source.damage();
    summary.duplicates = source.duplicates();
    summary.packets = after.packets - before.packets;
    summary.wire_bytes = after.wire_bytes - before.wire_bytes;
    if (summary.packets > 0) {
      summary.first_ns = before.packets == 0 ? after.first_ns : *reading_->first_ns;
      summary.last_ns = after.last_ns;
    }
    for (const capture::Interface& interface : summary.facts.interfaces) {
      if (!interface.dropped.has_value()) continue;
      summary.dropped = summary.dropped.value_or(0) + *interface.dropped;
    }
  }

  /// Not those that another file, captured at their source, tells as well.
  void report_retired(const flow::Flow& flow, std::size_t vantage) {
    if (is_part_) {
      if (vantages_[vantage].small.size() < kMostSmall) vantages_[vantage].small.push_back(flow);
      return;
    }
    if (!options_.retired) return;
    const packet::Address& source = traffic_.addresses[flow.key.source];
    for (const Glimpse& file : files_) {
      const bool is_senders = file.home.size() == 1 && file.home.front() == source;
      if (is_senders && &file != reading_ && reading_->home != file.home) return;
    }
    options_.retired(flow, traffic_.addresses);
  }

  Captured finish() {
    std::vector<flow::View> views;
    for (Vantage& vantage : vantages_) {
      views.push_back(flow::view_of(*vantage.table));
      vantage.table.reset();
    }
    // The first file's clock is everybody's.
    const std::size_t first = views.empty() ? 0 : traffic_.files.front().view;
    conclude(traffic_, std::move(views), first, options_.one_clock ? Clocks::Common : Clocks::Own);
    return std::move(traffic_);
  }

  const ReadOptions& options_;
  std::optional<Filter> filter_;
  Numbering numbering_;
  std::vector<Glimpse> files_;
  std::vector<Vantage> vantages_;
  const Glimpse* reading_ = nullptr;
  Captured traffic_ = {};
  std::int64_t done_bytes_ = 0;
  std::int64_t all_bytes_ = 0;  ///< -1: unknown
  bool stopped_ = false;
  bool is_part_ = false;
};

}  // namespace

Captured read_traffic(std::span<const std::string> paths, const ReadOptions& options) {
  check(!paths.empty(), "there is a file to read");
  if (std::ranges::none_of(paths, is_partial)) return TrafficReader(options).read(paths);
  return merge(read_partial(paths, options), options);
}

std::vector<PartialView> read_partial(std::span<const std::string> paths,
                                      const ReadOptions& options) {
  std::vector<PartialView> parts;
  std::vector<std::string> captures;
  for (const std::string& path : paths) {
    if (!is_partial(path)) {
      captures.push_back(path);
      continue;
    }
    for (PartialView& part : decode_partial(text_of(path), path)) parts.push_back(std::move(part));
    if (options.stop && options.stop()) return parts;
  }
  if (captures.empty()) return parts;
  for (PartialView& part : TrafficReader(options).read_apart(captures)) {
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace tw::gather
