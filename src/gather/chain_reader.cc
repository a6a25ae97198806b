// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/chain_reader.h"

#include "trainwire/flow/time_map.h"
#include "trainwire/gather/source.h"

#include <algorithm>
#include <utility>

namespace tw::gather {
namespace {

/// Batches between two calls of ReadOptions::progress.
constexpr int kProgressEvery = 32;
/// Small flows that a part remembers one by one.
constexpr std::size_t kMostSmall = 10'000;

/// A single file needs no look ahead.
Glimpse whole(const std::string& path) {
  Glimpse file{.path = path};
  file.reader = capture::open_capture(path);
  file.file_bytes = file.reader->facts().file_bytes;
  return file;
}

class ChainReader {
 public:
  ChainReader(Reading& reading, std::size_t before, std::size_t processors)
      : reading_(reading), before_(before), processors_(processors) {
    const std::string& filter = reading.options().filter;
    if (!filter.empty()) filter_.emplace(filter);
  }

  ReadChain read(const Chain& chain) {
    for (const std::size_t number : chain) {
      if (reading_.has_ended()) break;
      read_file(number);
    }
    ReadChain made{.addresses = std::move(addresses_)};
    for (Vantage& vantage : vantages_) {
      ReadView& view = made.views.emplace_back();
      view.part.view = flow::view_of(*vantage.table);
      vantage.table.reset();
      view.part.small = std::move(vantage.small);
      view.part.home = vantage.last_file->home;
      view.files = std::move(vantage.files);
    }
    return made;
  }

 private:
  /// A point of view that is being read.
  struct Vantage {
    std::unique_ptr<flow::FlowTable> table;
    const Glimpse* last_file = nullptr;
    Chain files = {};
    std::vector<flow::Flow> small = {};  ///< of a part: those that were only counted
  };

  std::size_t vantage_for(const Glimpse& file) {
    for (std::size_t i = 0; i < vantages_.size(); ++i) {
      const flow::Totals& totals = vantages_[i].table->totals();
      if (totals.packets == 0 ||
          continues(file, *vantages_[i].last_file, totals.first_ns, totals.last_ns)) {
        return i;
      }
    }
    flow::TableOptions options = reading_.options().table;
    options.milestones |= reading_.files().size() > 1 || reading_.purpose() == Purpose::Parts;
    const std::size_t number = vantages_.size();
    vantages_.push_back(
        {.table = std::make_unique<flow::FlowTable>(
             options, [this, number](const flow::Flow& flow) { retire(flow, number); })});
    const std::size_t views = before_ + vantages_.size();
    for (const Vantage& vantage : vantages_) {
      vantage.table->limit(options.most_windows / views, options.most_bursts / views);
    }
    return number;
  }

  void read_file(std::size_t number) {
    Glimpse& file = reading_.files()[number];
    const std::size_t vantage = vantage_for(file);
    vantages_[vantage].last_file = &file;
    vantages_[vantage].files.push_back(number);
    flow::FlowTable& table = *vantages_[vantage].table;
    const flow::Totals before = table.totals();
    auto reader = file.reader ? std::move(file.reader) : capture::open_capture(file.path);
    const auto source = open_source(
        {.path = file.path, .reader = std::move(reader), .first = std::move(file.packets)},
        numbering_, {.filter = filter_ ? &*filter_ : nullptr, .processors = processors_});
    std::int64_t position = 0;
    for (int batches = 1; const Batch* batch = source->next(); ++batches) {
      addresses_.insert(addresses_.end(), batch->addresses.begin(), batch->addresses.end());
      table.take(batch->packets);
      reading_.advance(batch->position - position);
      position = batch->position;
      if (batches % kProgressEvery == 0) reading_.tell_progress();
      if (reading_.ends()) break;
    }
    reading_.advance(file.file_bytes - position);
    summarise(number, *source, before, table.totals());
  }

  void summarise(std::size_t number, Source& source, const flow::Totals& before,
                 const flow::Totals& after) {
    source.stop();
    FileSummary& summary = reading_.summaries()[number];
    summary.facts = source.facts();
    summary.damage = source.damage();
    summary.duplicates = source.duplicates();
    summary.packets = after.packets - before.packets;
    summary.wire_bytes = after.wire_bytes - before.wire_bytes;
    if (summary.packets > 0) {
      summary.first_ns = before.packets == 0 ? after.first_ns : *reading_.files()[number].first_ns;
      summary.last_ns = after.last_ns;
    }
    for (const capture::Interface& interface : summary.facts.interfaces) {
      if (!interface.dropped.has_value()) continue;
      summary.dropped = summary.dropped.value_or(0) + *interface.dropped;
    }
  }

  void retire(const flow::Flow& flow, std::size_t number) {
    Vantage& vantage = vantages_[number];
    if (reading_.purpose() == Purpose::Parts) {
      if (vantage.small.size() < kMostSmall) vantage.small.push_back(flow);
    } else {
      reading_.retire(flow, addresses_, *vantage.last_file);
    }
  }

  Reading& reading_;
  const std::size_t before_;
  const std::size_t processors_;
  std::optional<Filter> filter_ = {};
  Numbering numbering_ = {};
  std::vector<packet::Address> addresses_ = {};
  std::vector<Vantage> vantages_ = {};
};

}  // namespace

Reading::Reading(std::span<const std::string> paths, const ReadOptions& options, Purpose purpose)
    : options_(options), purpose_(purpose), summaries_(paths.size()) {
  std::optional<Filter> filter;
  if (!options.filter.empty()) filter.emplace(options.filter);
  const bool is_alone = paths.size() == 1 && purpose == Purpose::Whole;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    summaries_[i].path = paths[i];
    files_.push_back(is_alone ? whole(paths[i]) : glimpse(paths[i], filter ? &*filter : nullptr));
    const std::int64_t bytes = files_.back().file_bytes;
    all_bytes_ = bytes == 0 || all_bytes_ < 0 ? -1 : all_bytes_ + bytes;
  }
}

void Reading::advance(std::int64_t bytes) { done_bytes_ += bytes; }

void Reading::tell_progress() const {
  if (!options_.progress || std::this_thread::get_id() != maker_) return;
  options_.progress(done_bytes_, std::max<std::int64_t>(all_bytes_, 0));
}

bool Reading::ends() {
  if (options_.stop && options_.stop()) ended_ = true;
  return ended_;
}

void Reading::retire(const flow::Flow& flow, const std::vector<packet::Address>& addresses,
                     const Glimpse& in) {
  if (!options_.retired || !tells_retired_) return;
  const packet::Address& source = addresses[flow.key.source];
  for (const Glimpse& file : files_) {
    const bool is_senders = file.home.size() == 1 && file.home.front() == source;
    if (is_senders && &file != &in && in.home != file.home) return;
  }
  const std::lock_guard lock(retiring_);
  options_.retired(flow, addresses);
}

bool Reading::lasted_as_seen() const {
  for (std::size_t i = 0; i < files_.size() && !ended_; ++i) {
    const auto& seen = files_[i].last_ns;
    if (seen && (summaries_[i].packets == 0 || summaries_[i].last_ns < flow::sane_time(*seen))) {
      return false;
    }
  }
  return true;
}

void Reading::begin_anew() {
  for (FileSummary& summary : summaries_) {
    FileSummary fresh{};
    fresh.path = std::move(summary.path);
    summary = std::move(fresh);
  }
  done_bytes_ = 0;
  tells_retired_ = false;
}

ReadChain read_chain(Reading& reading, const Chain& chain, std::size_t before,
                     std::size_t processors) {
  return ChainReader(reading, before, processors).read(chain);
}

}  // namespace tw::gather
