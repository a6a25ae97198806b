// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/command/sketch_options.h"
#include "trainwire/foreign/design.h"
#include "trainwire/guide/commands.h"
#include "trainwire/predict/plan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tw::guide {
namespace {

/// Never over a file that is there, nor through a link.
void write_new(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    throw SystemError(fmt::format(
        "writing {}: it is there already; name another file, or remove it", printable(path)));
  }
  const bool is_whole =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<::ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (is_whole) return;
  if (file >= 0) ::unlink(path.c_str());
  throw SystemError(fmt::format("writing {}: {}", printable(path), std::strerror(error)));
}

/// What other simulators' files say, under what the flags say.
sketch::Sketch with_designs(sketch::Sketch given, const std::vector<std::string>& designs,
                            command::Streams streams) {
  foreign::Design design{.flags = std::move(given)};
  for (const std::string& path : designs)
    foreign::add_design(command::read_whole(path), path, design);
  foreign::settle(design);
  for (const std::string& remark : design.remarks)
    fmt::print(streams.err, "note: {}\n", printable(remark));
  return std::move(design.flags);
}

int write_experiment(const sketch::Sketch& flags, const std::vector<std::string>& designs,
                     const std::string& path, command::Streams streams) {
  const command::ExperimentFile file = command::file_of(
      with_designs(command::given(flags), designs, streams), sketch::For::Training);
  // What cannot be planned is refused here, not when the file is used.
  const spec::Experiment experiment = command::load(file);
  for (const spec::Job& job : experiment.jobs) predict::plan(experiment, job);
  if (path.empty() || path == "-") {
    fmt::print(streams.out, "{}", file.text->toml);
    return command::kDone;
  }
  write_new(path, file.text->toml);
  fmt::print(streams.out, "{} holds the experiment\nnext: trainwire plan {}\n", printable(path),
             printable(path));
  return command::kDone;
}

}  // namespace

command::Body declare_new(command::CommandLine& app) {
  const auto flags = command::add_sketch(app, sketch::For::Training);
  const auto out = std::make_shared<std::string>();
  const auto designs = std::make_shared<std::vector<std::string>>();
  app.add_option("--from", *designs,
                 "what another simulator is given: a workload of SimAI or AICB, a network (YAML or "
                 "JSON) or "
                 "system (JSON) of ASTRA-sim; repeatable, flags go before it")
      .type_name("FILE")
      .repeatable();
  app.add_option("-o,--out", *out, "the file to write, which must not be there yet; default: print")
      .type_name("FILE");
  return
      [=](command::Streams streams) { return write_experiment(*flags, *designs, *out, streams); };
}

}  // namespace tw::guide
