// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/run_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/remedy.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace tw::result {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::string_view kProgram = "trainwire";
/// What a run writes besides its tables.
constexpr std::array<std::string_view, 6> kOtherFiles{"run.json",    "run.json.part", "fit.json",
                                                      "report.html", "log.txt",       "live.jsonl"};

/// What a run writes for each of its ranks and hosts, by number.
struct Numbered {
  std::string_view before;
  std::string_view after;
};
constexpr std::array<Numbered, 3> kNumberedFiles{
    {{"rank", ".txt"}, {"marks-", ".csv"}, {"host", ".pcap"}}};

bool is_numbered(std::string_view name) {
  return std::any_of(kNumberedFiles.begin(), kNumberedFiles.end(), [&](const Numbered& kind) {
    if (!name.starts_with(kind.before) || !name.ends_with(kind.after)) return false;
    if (name.size() <= kind.before.size() + kind.after.size()) return false;
    name.remove_prefix(kind.before.size());
    name.remove_suffix(kind.after.size());
    return name.find_first_not_of("0123456789") == name.npos;
  });
}

enum class Content { Absent, Empty, Run, Other };

std::string joined(const std::string& folder, std::string_view file) {
  return fs::path(folder) / file;
}

/// run.json, or nothing when there is none that we wrote.
std::optional<ordered_json> our_document(const std::string& folder) {
  ordered_json document = read_json(joined(folder, "run.json"));
  if (!document.is_object() || document.value("program", ordered_json()) != kProgram) return {};
  return document;
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
  return our_document(path) ? Content::Run : Content::Other;
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
  with_remedy([&] {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw os::errno_error(fmt::format("creating the folder {}", path), error.value());
  });
}

ordered_json json_of(const InputFile& input) {
  ordered_json json{{"path", input.path}};
  json["bytes"] = input.bytes ? ordered_json(*input.bytes) : ordered_json();
  json["hash"] = input.hash.empty() ? ordered_json() : ordered_json(input.hash);
  return json;
}

std::string utc_now() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace

RunFolder::RunFolder(std::string path, Provenance provenance, IfThere if_there)
    : path_(std::move(path)), provenance_(std::move(provenance)), started_(utc_now()) {
  const Content content = content_of(path_);
  refuse_unless_free(path_, content, if_there);
  replaces_ = content == Content::Run;
  created_ = content == Content::Absent;
  create_folder(path_);
  if (!replaces_) write_document(document());
}

RunFolder::~RunFolder() {
  if (begun_ || replaces_) return;
  std::error_code ignored;
  fs::remove(joined(path_, "run.json"), ignored);
  if (created_) fs::remove(path_, ignored);
}

ordered_json RunFolder::document() const {
  ordered_json inputs = ordered_json::array();
  for (const InputFile& input : provenance_.inputs) inputs.push_back(json_of(input));
  return {{"schema", kSchema},
          {"program", kProgram},
          {"command", provenance_.command},
          {"complete", false},
          {"provenance",
           {{"command_line", provenance_.command_line},
            {"version", provenance_.version},
            {"commit", provenance_.commit},
            {"started", started_},
            {"inputs", std::move(inputs)},
            {"input_hash", kHashName}}}};
}

void RunFolder::write_document(const ordered_json& document) const {
  const std::string temporary = joined(path_, "run.json.part");
  const std::string final_name = joined(path_, "run.json");
  // Paths need not be UTF-8, JSON does.
  const std::string text =
      document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  with_remedy([&] {
    os::FileDescriptor file = os::open_to_write(temporary);
    os::write_all(file, std::as_bytes(std::span(text)), temporary);
    file.close(temporary);
    std::error_code error;
    fs::rename(temporary, final_name, error);
    if (error) throw os::errno_error(fmt::format("writing {}", final_name), error.value());
  });
}

void RunFolder::begin() {
  if (begun_) return;
  begun_ = true;
  if (!replaces_) return;
  write_document(document());
  remove_earlier_run();
}

void RunFolder::remove_earlier_run() const {
  std::error_code ignored;
  for (const Table& table : tables()) {
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

TableFile& RunFolder::table(std::string_view name) {
  if (const auto found = tables_.find(name); found != tables_.end()) return found->second;
  const Table* table = find_table(name);
  check(table != nullptr, "the schema has the table");
  begin();
  const std::string file = joined(path_, fmt::format("{}.csv", name));
  return tables_.emplace(table->name, TableFile(*table, file)).first->second;
}

void RunFolder::finish(const ordered_json& summary, std::string_view partial) {
  begin();
  ordered_json whole = document();
  ordered_json rows = ordered_json::object();
  for (auto& [name, table] : tables_) {
    table.close();
    rows[std::string(name)] = table.rows();
  }
  whole["complete"] = partial.empty();
  if (!partial.empty()) whole["partial"] = partial;
  whole["rows"] = std::move(rows);
  whole["summary"] = summary;
  write_document(whole);
}

RunRecord read_run(const std::string& path) {
  const std::string file = joined(path, "run.json");
  // Tells a missing file from a bad one; nobody may ever write to a pipe.
  std::error_code ignored;
  if (!fs::is_fifo(file, ignored)) os::open_to_read(file);
  std::optional<ordered_json> document = our_document(path);
  if (!document) throw DataError(fmt::format("reading {}: it is no run of trainwire", file));
  const ordered_json schema = document->value("schema", ordered_json());
  if (!schema.is_number_integer() || schema < 1 || schema > kSchema) {
    throw DataError(
        fmt::format("reading {}: its schema is {}, this program knows 1 to {}; use a newer one",
                    file, schema.dump(), kSchema));
  }
  const bool complete = document->value("complete", ordered_json()) == true;
  return {.document = *std::move(document), .complete = complete};
}

}  // namespace tw::result
