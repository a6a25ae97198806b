// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/output_folder.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/remedy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>

namespace tw::result {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kList = "export.json";
constexpr std::size_t kPending = std::size_t{1} << 18;

std::set<std::string, std::less<>> listed(const std::string& path) {
  const ordered_json document = result::read_json(path);
  std::set<std::string, std::less<>> names;
  if (!document.is_object() || document.value("program", ordered_json()) != "trainwire") return {};
  names.insert(kList);
  const ordered_json files = document.value("files", ordered_json::array());
  for (const ordered_json& each : files.is_array() ? files : ordered_json::array()) {
    if (each.is_string()) names.insert(each.get<std::string>());
  }
  return names;
}

/// Whether `path` had to be created.
bool create_folder(const std::string& path) {
  std::error_code error;
  const bool created = fs::create_directories(path, error);
  if (error) throw os::errno_error(fmt::format("creating the folder {}", path), error.value());
  return created;
}

bool is_empty(const std::string& path) {
  std::error_code error;
  const bool empty = fs::is_empty(path, error);
  if (error) throw os::errno_error(fmt::format("looking into {}", path), error.value());
  return empty;
}

void write_file(const std::string& path, std::string_view text) {
  os::FileDescriptor file = os::open_to_write(path);
  os::write_all(file, std::as_bytes(std::span(text)), path);
  file.close(path);
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    throw os::errno_error(fmt::format("putting {} in place", to), errno);
  }
}

}  // namespace

OutputFolder::OutputFolder(std::string path, result::IfThere if_there)
    : path_(std::move(path)), if_there_(if_there) {
  result::with_remedy([&] { created_ = create_folder(path_); });
  ours_ = listed(fmt::format("{}/{}", path_, kList));
  if (if_there_ == result::IfThere::Refuse && ours_.empty() && !is_empty(path_)) {
    throw SystemError(
        fmt::format("exporting into {}: it holds files that no export has written; choose another "
                    "place with --out, or add --force",
                    path_));
  }
}

OutputFolder::~OutputFolder() {
  if (!created_ || !written_.empty()) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    if (entry.is_directory(ignored)) fs::remove(entry.path(), ignored);
  }
  fs::remove(path_, ignored);  // like those inside: only when it is empty
}

std::string OutputFolder::temporary(const std::string& name) {
  const fs::path path = fs::path(path_) / name;
  std::error_code ignored;
  const bool there = fs::exists(fs::symlink_status(path, ignored));
  if (there && if_there_ == result::IfThere::Refuse && !ours_.contains(name)) {
    throw SystemError(
        fmt::format("writing {}: something else is there; choose another place with --out, or add "
                    "--force",
                    path.string()));
  }
  result::with_remedy([&] { create_folder(path.parent_path().string()); });
  return path.parent_path() / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
}

void OutputFolder::put(Written file) {
  result::with_remedy([&] {
    const std::string path = fmt::format("{}/{}", path_, file.name);
    const std::string whole = temporary(file.name);
    file.bytes = os::file_bytes(os::open_to_read(whole));
    ours_.insert(file.name);
    write_list();  // first: what is listed and not there harms nobody
    rename_file(whole, path);
    written_.push_back(std::move(file));
  });
}

void OutputFolder::write_list() {
  ordered_json document{{"schema", 1},
                        {"program", "trainwire"},
                        {"command", "export"},
                        {"files", ordered_json::array()}};
  ours_.insert(kList);
  for (const std::string& name : ours_) document["files"].push_back(name);
  const std::string part = temporary(kList);
  const RemovedAtEnd guard(part);
  write_file(part, document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  rename_file(part, fmt::format("{}/{}", path_, kList));
}

OutputFile::OutputFile(OutputFolder& folder, std::string name, std::string format)
    : folder_(&folder),
      file_{.name = std::move(name), .format = std::move(format)},
      path_(folder.temporary(file_.name)) {
  result::with_remedy([&] { descriptor_ = os::open_to_write(path_); });
}

OutputFile::~OutputFile() {
  if (descriptor_.is_open()) ::unlink(path_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  bytes_ += static_cast<std::int64_t>(bytes.size());
  pending_ += bytes;
  if (pending_.size() >= kPending) flush();
}

void OutputFile::flush() {
  result::with_remedy(
      [&] { os::write_all(descriptor_, std::as_bytes(std::span(pending_)), path_); });
  pending_.clear();
}

void OutputFile::put(std::optional<std::int64_t> rows) {
  flush();
  const RemovedAtEnd guard(path_);
  result::with_remedy([&] { descriptor_.close(path_); });
  file_.rows = rows;
  folder_->put(std::move(file_));
}

RemovedAtEnd::~RemovedAtEnd() { ::unlink(path_.c_str()); }

}  // namespace tw::result
