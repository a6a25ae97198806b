// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run_file.h"

#include "trainwire/record/describe_run.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/run_folder.h"

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

template <typename Io>
void describe(Io& io, As<RunFile> auto& file) {
  io("command", file.command);
  io("complete", file.complete);
  io.if_any("provenance", file.provenance);
  io.if_any("partial", file.partial);
  io("rows", file.rows);
  io("summary", file.summary);
}

namespace {

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

RunFile read_run(const std::string& folder) {
  return run_file_from(result::read_run(folder).document);
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
