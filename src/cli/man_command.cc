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
    const std::string argument =
        option.hint.argument.empty() ? "" : fmt::format("\\fR \\fI{}", roff(option.hint.argument));
    text += fmt::format(".TP\n\\fB{}{}\\fR\n{}\n", roff(option.names), argument, roff(option.help));
  }
  text += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.examples));
  return text;
}

std::string files_section() {
  return ".SH FILES\n"
         ".TP\n.I NAME.toml\nan experiment; `trainwire new` writes one, `trainwire explain KEY` "
         "explains a key\n"
         ".TP\n.I NAME.run/\na run folder: run.json, tables as CSV, report.html; `trainwire "
         "schema` "
         "explains the columns\n"
         ".TP\n.I /run/trainwire or $XDG_RUNTIME_DIR/trainwire\nwhat runs have made and must "
         "remove; `trainwire cleanup` reads it\n";
}

std::string environment_section() {
  return ".SH ENVIRONMENT\n"
         ".TP\n.B NO_COLOR\nno colour on a terminal, whatever its value\n"
         ".TP\n.B COLUMNS\nwidth to which text is wrapped on a terminal; default: the terminal's\n"
         ".TP\n.B TRAINWIRE_STATE\nfolder for what runs have made and must remove, in place of the "
         "one "
         "below FILES\n"
         ".TP\n.B TRAINWIRE_TOKEN\nsecret of `traffic send` and `traffic sink`\n";
}

std::string exit_section() {
  return ".SH EXIT STATUS\n"
         ".TP\n0\ndone\n.TP\n1\na stated expectation failed\n.TP\n2\nwrong usage or experiment\n"
         ".TP\n3\nthe environment or the input does not allow it\n.TP\n4\nthe run "
         "failed\n.TP\n70\ninternal error\n"
         ".TP\n130\ninterrupted; partial results were kept\n";
}

std::string examples_section() {
  return ".SH EXAMPLES\n.nf\n"
         "trainwire new \\-\\-hosts 8 \\-\\-topology leafspine \\-\\-model gpt2 \\-o job.toml\n"
         "trainwire plan job.toml\n"
         "trainwire run job.toml \\-\\-steps 20\n"
         "trainwire exec \\-\\-hosts 4 \\-\\-rate 500Mbit \\-\\-link host1:to:120Mbit \\-\\- "
         "python3 "
         "train.py\n"
         "trainwire analyze host*.pcap \\-\\-log steps.csv \\-o job.run\n"
         "trainwire compare before.run after.run\n"
         "trainwire explain network.queue\n.fi\n";
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
  return text + files_section() + environment_section() + exit_section() + examples_section();
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
