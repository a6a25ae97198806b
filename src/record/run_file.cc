// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run_file.h"

#include "trainwire/base/error.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/record/describe_run.h"
#include "trainwire/record/json.h"
#include "trainwire/result/input_file.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::record {

using nlohmann::ordered_json;

template <typename Io>
void describe(Io& io, As<Input> auto& input) {
  io("path", input.path);
  io.or_null("bytes", input.bytes);
  io.or_null("hash", input.hash);
}

template <typename Io>
void describe(Io& io, As<Provenance> auto& provenance) {
  io("command_line", provenance.command_line);
  io("version", provenance.version);
  io("commit", provenance.commit);
  io("started", provenance.started);
  io("inputs", provenance.inputs);
  io("input_hash", provenance.input_hash);
}

/// What a run says of itself when it begins.
template <typename Io>
void describe_begun(Io& io, As<RunFile> auto& file) {
  io("command", file.command);
  io("complete", file.complete);
  io.if_any("provenance", file.provenance);
}

template <typename Io>
void describe_ended(Io& io, As<RunFile> auto& file) {
  describe_begun(io, file);
  io.if_any("partial", file.partial);
  io("rows", file.rows);
  io.if_any("hashes", file.hashes);
}

template <typename Io>
void describe(Io& io, As<RunFile> auto& file) {
  describe_ended(io, file);
  io("summary", file.summary);
}

namespace {

constexpr std::string_view kProgram = "trainwire";

std::string path_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "run.json").string();
}

/// run.json, or null when there is none that we wrote.
ordered_json our_document(const std::string& folder) {
  ordered_json document = result::read_json(path_of(folder));
  if (!document.is_object() || document.value("program", ordered_json()) != kProgram) return {};
  return document;
}

ordered_json part(const RunFile& file, const char* key) {
  const ordered_json document = document_of(file);
  return document.is_object() ? document.value(key, ordered_json()) : ordered_json();
}

void remove_times(ordered_json& value) {
  if (value.is_object()) {
    value.erase("times_s");
    value.erase("starts_s");
  }
  if (!value.is_structured()) return;
  for (ordered_json& part : value) remove_times(part);
}

}  // namespace

RunFile run_file_from(const ordered_json& document) {
  RunFile file;
  JsonReader::take(document, file);
  file.text = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return file;
}

bool is_run(const std::string& folder) {
  return result::text_member(path_of(folder), "program") == kProgram;
}

bool is_cut_off(const std::string& folder) {
  const std::string file = path_of(folder);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::ifstream in(file, std::ios::binary);
  // Disks give back zeros where they were not told in time.
  const bool is_empty =
      std::all_of(std::istreambuf_iterator<char>(in), {}, [](char c) { return c == '\0'; });
  return is_empty || (is_run(folder) && result::read_json(file).is_null());
}

RunFile read_run(const std::string& folder) {
  const std::string file = path_of(folder);
  // Tells a missing file from a bad one; nobody may ever write to a pipe.
  std::error_code ignored;
  if (!std::filesystem::is_fifo(file, ignored)) os::open_to_read(file);
  const ordered_json document = our_document(folder);
  if (document.is_null()) {
    throw DataError(fmt::format(
        "reading {}: {}", file,
        is_cut_off(folder)
            ? "it is empty or torn, as a power cut leaves it; do the run again with --force"
            : "it is no run of trainwire"));
  }
  const ordered_json schema = document.value("schema", ordered_json());
  if (!schema.is_number_integer() || schema < 1 || schema > result::kSchema) {
    throw DataError(
        fmt::format("reading {}: its schema is {}, this program knows 1 to {}; use a newer one",
                    file, schema.dump(), result::kSchema));
  }
  return run_file_from(document);
}

void require_unchanged(const std::string& folder, const RunFile& file) {
  if (!file.complete || !file.hashes) return;
  for (const auto& [name, hash] : *file.hashes) {
    if (result::find_table(name) == nullptr) continue;
    const std::string path = fmt::format("{}/{}.csv", folder, name);
    std::error_code ignored;
    const bool is_there =
        std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored));
    if (is_there && result::describe_input(path).hash == hash) continue;
    throw DataError(
        fmt::format("reading {}: {}; run it again, or take the folder from a copy", path,
                    is_there ? "it is not what the run wrote: it was cut, replaced or edited"
                             : "the run wrote it, and it is gone"));
  }
}

std::string text_of(const RunFile& file, Stage stage) {
  ordered_json document{{"schema", result::kSchema}, {"program", kProgram}};
  JsonWriter io(document);
  if (stage == Stage::Begun) {
    describe_begun(io, file);
  } else {
    describe_ended(io, file);
    document["summary"] = to_json(file.summary);
  }
  return dumped(document) + "\n";
}

ordered_json document_of(const RunFile& file) { return result::parse_json(file.text); }
ordered_json provenance_document(const RunFile& file) { return part(file, "provenance"); }
ordered_json summary_document(const RunFile& file) { return part(file, "summary"); }

ordered_json summary_without_times(const RunFile& file) {
  ordered_json summary = summary_document(file);
  remove_times(summary);
  return summary;
}

}  // namespace tw::record
