// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/result/remedy.h"
#include "trainwire/result/whole_file.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <span>
#include <vector>

namespace tw::record {
namespace {

namespace fs = std::filesystem;
using result::IfThere;

/// What a run writes besides its tables.
constexpr std::array<std::string_view, 6> kOtherFiles{"run.json",    "run.json.part", "fit.json",
                                                      "report.html", "log.txt",       "live.jsonl"};

/// What a run writes for each of its ranks, hosts and loads, with # for a number. Files .tmp are
/// read when the run ends; one that was killed leaves them.
constexpr std::array<std::string_view, 13> kNumberedFiles{"rank#.txt",
                                                          "job#-rank#.txt",
                                                          "traffic#-sink.txt",
                                                          "traffic#-source.txt",
                                                          "marks-#.csv",
                                                          "host#.pcap",
                                                          "job#-rank#-steps.tmp",
                                                          "job#-rank#-sockets.tmp",
                                                          "job#-rank#-transfers.tmp",
                                                          "traffic#-flows.tmp",
                                                          "run.json.#.part",
                                                          "report.html.#.part",
                                                          "fit.json.#.part"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_numbered(std::string_view name) {
  std::string shape;
  for (const char c : name) {
    if (!is_digit(c)) shape += c;
    if (is_digit(c) && !shape.ends_with('#')) shape += '#';
  }
  const bool plain = name.find('#') == name.npos;
  return plain && std::ranges::find(kNumberedFiles, shape) != kNumberedFiles.end();
}

enum class Content { Absent, Empty, Run, Other };

std::string joined(const std::string& folder, std::string_view file) {
  return fs::path(folder) / file;
}

Content content_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Content::Absent;
  if (status.type() == fs::file_type::none) {
    throw os::errno_error(fmt::format("looking for {}", path), error.value(),
                          "choose another place with --out");
  }
  if (status.type() != fs::file_type::directory) return Content::Other;
  const fs::directory_iterator entries(path, error);
  if (error) throw os::errno_error(fmt::format("looking into {}", path), error.value());
  if (entries == fs::directory_iterator()) return Content::Empty;
  return is_run(path) || is_cut_off(path) ? Content::Run : Content::Other;
}

void refuse_unless_free(const std::string& path, Content content, IfThere if_there) {
  if (content == Content::Other) {
    throw SystemError(fmt::format(
        "writing the run folder {}: something else is there; choose another place with --out",
        path));
  }
  if (content == Content::Run && if_there == IfThere::Refuse) {
    throw SystemError(
        fmt::format("writing the run folder {}: a run is there already; replace it with --force or "
                    "choose another place with --out",
                    path));
  }
}

void create_folder(const std::string& path) {
  result::with_remedy([&] {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw os::errno_error(fmt::format("creating the folder {}", path), error.value());
  });
}

/// Nobody else writes into the folder meanwhile: not to be undone by --force.
os::FileDescriptor locked(const std::string& path) {
  os::FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) throw os::errno_error(fmt::format("opening {}", path), errno);
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw SystemError(
        fmt::format("writing the run folder {}: another trainwire is writing it now; wait until it "
                    "has ended, or choose another place with --out",
                    path));
  }
  return folder;
}

Input input_of(const result::InputFile& file) {
  return {.path = file.path,
          .bytes = file.bytes,
          .hash = file.hash.empty() ? std::nullopt : std::optional(file.hash)};
}

std::string utc_now() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace

RunFolder::RunFolder(std::string path, Maker maker, IfThere if_there)
    : path_(std::move(path)), maker_(std::move(maker)), started_(utc_now()) {
  const Content content = content_of(path_);
  refuse_unless_free(path_, content, if_there);
  replaces_ = content == Content::Run;
  created_ = content == Content::Absent;
  create_folder(path_);
  lock_ = locked(path_);
  if (!replaces_) write(begun(), false);
}

RunFolder::~RunFolder() {
  if (has_begun_ || replaces_) return;
  std::error_code ignored;
  fs::remove(joined(path_, "run.json"), ignored);
  if (created_) fs::remove(path_, ignored);
}

RunFile RunFolder::begun() const {
  Provenance provenance{.command_line = maker_.command_line,
                        .version = maker_.version,
                        .commit = maker_.commit,
                        .started = started_,
                        .input_hash = result::kHashName};
  for (const result::InputFile& input : maker_.inputs) {
    provenance.inputs.push_back(input_of(input));
  }
  return {.command = maker_.command, .provenance = std::move(provenance)};
}

void RunFolder::write(const RunFile& run, bool ended) const {
  const std::string text = text_of(run, ended ? Stage::Ended : Stage::Begun);
  const std::string file = joined(path_, "run.json");
  result::with_remedy(
      [&] { ended ? result::replace_whole(file, text) : result::replace_for_now(file, text); });
}

void RunFolder::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  if (!replaces_) return;
  write(begun(), false);
  remove_earlier_run();
}

void RunFolder::remove_earlier_run() const {
  std::error_code ignored;
  for (const result::Table& table : result::tables()) {
    fs::remove(joined(path_, fmt::format("{}.csv", table.name)), ignored);
  }
  for (const std::string_view name : kOtherFiles) {
    if (name != "run.json") fs::remove(joined(path_, name), ignored);
  }
  std::vector<fs::path> numbered;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    if (is_numbered(entry.path().filename().string())) numbered.push_back(entry.path());
  }
  for (const fs::path& path : numbered) fs::remove(path, ignored);
}

result::TableFile& RunFolder::table(std::string_view name) {
  if (const auto found = tables_.find(name); found != tables_.end()) return found->second;
  const result::Table* table = result::find_table(name);
  check(table != nullptr, "the schema has the table");
  begin();
  const std::string file = joined(path_, fmt::format("{}.csv", name));
  return tables_.emplace(table->name, result::TableFile(*table, file)).first->second;
}

void RunFolder::finish(const Run& run, std::string_view partial) {
  begin();
  RunFile file = begun();
  // The disk stores all tables in the time of one.
  std::map<std::string, std::future<std::string>> closing;
  for (auto& [name, table] : tables_) {
    file.rows[std::string(name)] = table.rows();
    closing[std::string(name)] =
        std::async(std::launch::async, [&table = table, this, name = name] {
          table.close();
          return result::describe_input(joined(path_, fmt::format("{}.csv", name))).hash;
        });
  }
  std::map<std::string, std::string> hashes;
  for (auto& [name, hash] : closing) hashes[name] = hash.get();
  file.hashes = std::move(hashes);
  file.complete = partial.empty();
  if (!partial.empty()) file.partial = std::string(partial);
  file.summary = run;
  write(file, true);
}

}  // namespace tw::record
