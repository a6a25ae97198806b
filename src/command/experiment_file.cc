// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/experiment_file.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/fields.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/reference.h"
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
  for (std::size_t room = 1 << 16; in && text.size() <= kMostBytes; room *= 2) {
    const std::size_t before = text.size();
    text.resize(before + std::min(room, kMostBytes + 1 - before));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw SystemError(fmt::format("reading {}: {}", path, std::strerror(errno)));
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

/// "network.rate=", and so on: what --set takes.
std::vector<std::string> settable() {
  std::vector<std::string> keys;
  for (const spec::SectionText& section : spec::reference()) {
    std::string path = section.header;
    std::erase_if(path, [](char c) { return c == '[' || c == ']'; });
    for (const spec::KeyText& key : section.keys) {
      keys.push_back(path + (path.empty() ? "" : ".") + key.key + "=");
    }
  }
  return keys;
}

spec::Experiment load_flags(const sketch::Text& text, const std::string& name,
                            const std::vector<spec::Override>& overrides) {
  try {
    return spec::parse(text.toml, name, workload::vocabulary(), overrides);
  } catch (const SpecError& error) {
    throw SpecError(sketch::in_options(error.what(), name, text));
  }
}

}  // namespace

std::shared_ptr<ExperimentFile> add_experiment_file(CommandLine& app, const std::string& what) {
  auto file = std::make_shared<ExperimentFile>();
  app.add_option("FILE", file->path, what).required().type_name("");
  add_overrides(app, file->overrides);
  return file;
}

void add_overrides(CommandLine& app, std::vector<std::string>& into) {
  app.add_option("--set", into, "replace a setting, e.g. job.model=vgg16; repeatable")
      .type_name("KEY=VALUE")
      .suggests(settable())
      .repeatable();
}

void refuse_simulated(const spec::Experiment& experiment, std::string_view command) {
  if (const std::vector<std::string> keys = spec::simulated_keys(experiment); !keys.empty()) {
    throw SpecError(fmt::format("{}: {} cannot do that; `trainwire sim` can, or leave {} out",
                                keys.front(), command, keys.size() == 1 ? "it" : "such keys"));
  }
  if (*experiment.network.congestion_control == "mltcp") {
    throw SpecError(
        fmt::format("network.congestion_control: {} cannot have mltcp, which no kernel has; "
                    "`trainwire sim` can",
                    command));
  }
}

void refuse_faults(const spec::Experiment& experiment, std::string_view command) {
  if (experiment.faults.empty()) return;
  throw SpecError(
      fmt::format("fault: {} cannot break links or stop ranks; `trainwire run` and `trainwire sim` "
                  "can, or leave "
                  "[[fault]] out",
                  command));
}

void read(ExperimentFile& file) {
  if (!file.text && !file.content) file.content = read_file(file.path);
}

spec::Experiment load(const ExperimentFile& file) {
  std::vector<spec::Override> overrides;
  for (const std::string& text : file.overrides) overrides.push_back(spec::parse_override(text));
  if (file.text) return load_flags(*file.text, file.path, overrides);
  return spec::parse(file.content ? *file.content : read_file(file.path), file.path,
                     workload::vocabulary(), overrides);
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
