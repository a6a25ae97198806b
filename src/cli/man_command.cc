// SPDX-License-Identifier: Apache-2.0
// The manual page, written from the declared commands and options, so that it cannot fall behind
// them.
#include "trainwire/cli/commands.h"
#include "trainwire/command/app.h"
#include "trainwire/command/version.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tw::cli {
namespace {

/// A leading dot or apostrophe and every backslash mean something to roff; a hyphen must stay one.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

std::string command_section(const command::CommandText& command) {
  std::string text = fmt::format(".SS {}\n{}\n", roff(command.name), roff(command.summary));
  for (const command::OptionText& option : command.options) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(option.names), roff(option.help));
  }
  text += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.examples));
  return text;
}

std::string page(const command::Application& application) {
  std::string text = fmt::format(
      ".TH TRAINWIRE 1 \"\" \"trainwire {}\" \"User Commands\"\n"
      ".SH NAME\ntrainwire \\- {}\n"
      ".SH SYNOPSIS\n.B trainwire\n.I COMMAND\n[OPTIONS] [ARGUMENTS]\n"
      ".SH DESCRIPTION\nAn experiment file describes a network and the jobs that train on it; the "
      "commands compute, "
      "measure and show what follows. Results go to standard output, everything else to standard "
      "error.\n"
      ".SH COMMANDS\n",
      roff(command::version()),
      roff("what a training job does to the network, and the network to it"));
  for (const command::CommandText& command : application.commands())
    text += command_section(command);
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\ndone\n.TP\n1\na stated expectation failed\n.TP\n2\nwrong usage or experiment\n"
      ".TP\n3\nthe environment or the input does not allow it\n.TP\n4\nthe run "
      "failed\n.TP\n70\ninternal error\n"
      ".TP\n130\ninterrupted; partial results were kept\n"
      ".SH EXAMPLES\n.nf\n"
      "trainwire plan examples/quickstart/experiment.toml\n"
      "trainwire plan job.toml \\-\\-set job.strategy=tree \\-\\-json\n"
      "trainwire models resnet50\n"
      "trainwire analyze host*.pcap \\-\\-log steps.csv \\-o job.run\n"
      "trainwire info job.pcapng.zst\n.fi\n";
  return text;
}

}  // namespace

command::Body declare_man(command::CommandLine&) {
  return [](command::Streams streams) {
    const command::Application application(commands());
    fmt::print(streams.out, "{}", page(application));
    return 0;
  };
}

}  // namespace tw::cli
