// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/experiment_file.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace tw::command {
namespace {

/// Larger than any experiment; keeps a wrong path (a capture, a disk) from being read whole.
constexpr std::size_t kMostBytes = 16 << 20;

std::string read_all(std::istream& in, const std::string& path) {
  std::string text;
  text.resize(kMostBytes + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw SystemError(fmt::format("reading {}: {}", path, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostBytes) {
    throw SpecError(fmt::format("reading {}: larger than 16 MiB; is it an experiment file?", path));
  }
  return text;
}

std::string read_file(const std::string& path) {
  if (path == "-") return read_all(std::cin, "standard input");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw SystemError(
        fmt::format("opening {}: {}; is the path right?", path, std::strerror(errno)));
  std::string text = read_all(in, path);
  if (text.empty() && errno == EISDIR) {
    throw SystemError(
        fmt::format("reading {}: it is a folder; name the experiment file in it", path));
  }
  return text;
}

}  // namespace

std::shared_ptr<ExperimentFile> add_experiment_file(CommandLine& app) {
  auto file = std::make_shared<ExperimentFile>();
  app.add_option("FILE", file->path, "experiment file (TOML), or - for standard input")
      .required()
      .type_name("");
  app.add_option("--set", file->overrides, "replace a setting, e.g. job.model=vgg16; repeatable")
      .type_name("KEY=VALUE")
      .repeatable();
  return file;
}

spec::Experiment load(const ExperimentFile& file) {
  std::vector<spec::Override> overrides;
  for (const std::string& text : file.overrides) overrides.push_back(spec::parse_override(text));
  return spec::parse(read_file(file.path), file.path, workload::vocabulary(), overrides);
}

void add_expect(CommandLine& app, std::string& path) {
  app.add_option("--expect", path,
                 "an experiment whose [[expect]] about this command are to hold; exit with 1 when "
                 "one does not")
      .type_name("FILE");
}

std::vector<spec::Expectation> expectations_of(const std::string& path) {
  if (path.empty()) return {};
  return load({.path = path, .overrides = {}}).expectations;
}

}  // namespace tw::command
