// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/app.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/version.h"
#include "trainwire/os/last_words.h"
#include "trainwire/terminal/look.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <map>
#include <new>
#include <system_error>

namespace tw::cli {
namespace {

/// Messages quote names and bytes of files; a terminal must not obey them. Lines stay lines.
int fail(command::Streams streams, std::string_view message, int code) {
  fmt::print(streams.err, "trainwire: ");
  while (true) {
    const std::size_t end = message.find('\n');
    fmt::print(streams.err, "{}\n", printable(message.substr(0, end)));
    if (end == message.npos) return code;
    message.remove_prefix(end + 1);
  }
}

/// The message for a first word that is no command; empty when it is one (or an option).
std::string unknown_command(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return {};
  std::vector<std::string_view> names;
  for (const command::Command& command : commands()) names.push_back(command.name);
  if (std::find(names.begin(), names.end(), arguments.front()) != names.end()) return {};
  if (arguments.front() == "help") return {};
  const auto near = nearest(arguments.front(), names);
  return fmt::format(
      "there is no command \"{}\"; {}", arguments.front(),
      near ? fmt::format("did you mean \"{}\"?", *near) : "`trainwire --help` lists them");
}

/// Whether what is printed must stay as it is. REQUIRES: the first argument is a command.
bool prints_data(std::span<const std::string> arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word == "--json" || word == "--transfers") return true;
  }
  for (const command::Command& command : commands()) {
    if (command.name == arguments.front()) return command.prints_data;
  }
  return false;
}

int answer(const command::Application& application, command::Application::Parsed parsed,
           command::Streams streams) {
  switch (parsed) {
    case command::Application::Parsed::Help:
      fmt::print(streams.out, "{}", application.help());
      return command::kDone;
    case command::Application::Parsed::Version:
      fmt::print(streams.out, "trainwire {} (commit {})\n", command::version(), command::commit());
      return command::kDone;
    case command::Application::Parsed::Nothing:
      fmt::print(streams.err, "{}", application.help());
      return command::kUsage;
    case command::Application::Parsed::Command:
      break;
  }
  return (*application.body())(streams);
}

/// The command that the first word names, alone: declaring options of all others takes as long as
/// some commands do. All where it names none, for the program's own help.
std::span<const command::Command> meant(std::span<const std::string> arguments) {
  const std::span<const command::Command> all = commands();
  for (std::size_t i = 0; i < all.size() && !arguments.empty(); ++i) {
    if (all[i].name == arguments.front()) return all.subspan(i, 1);
  }
  return all;
}

/// Reads the options and runs the command's body. Text, if it is for a terminal, goes out as that
/// shows it best.
int dispatch(std::span<const std::string> arguments, command::Streams streams) {
  command::Application application(meant(arguments));
  const command::Application::Parsed parsed = application.parse(arguments);
  const terminal::Look look = terminal::look_of(streams.out);
  const bool is_data = parsed == command::Application::Parsed::Command && prints_data(arguments);
  if (look.changes_nothing() || is_data) return answer(application, parsed, streams);
  terminal::FittedStream text(streams.out, look);
  const int code = answer(application, parsed,
                          {.out = text, .err = streams.err, .arguments = streams.arguments});
  text.flush();
  return code;
}

}  // namespace

int run(std::span<const std::string> arguments, command::Streams streams) {
  streams.arguments = arguments;
  try {
    if (const std::string message = unknown_command(arguments); !message.empty()) {
      return fail(streams, message, command::kUsage);
    }
    const int code = dispatch(arguments, streams);
    streams.out.flush();
    if (!streams.out) throw SystemError("writing the result: the output was closed or is full");
    return code;
  } catch (const SpecError& error) {
    return fail(streams, error.what(), command::kUsage);
  } catch (const SystemError& error) {
    return fail(streams, error.what(), command::kEnvironment);
  } catch (const DataError& error) {
    return fail(streams, error.what(), command::kEnvironment);
  } catch (const Error& error) {
    return fail(streams, error.what(), command::kRunFailed);
  } catch (const std::bad_alloc&) {
    return fail(streams, os::out_of_memory(), command::kEnvironment);
  } catch (const std::system_error& error) {
    // A thread has no room for its stack.
    const bool starved = error.code() == std::errc::resource_unavailable_try_again;
    return fail(streams, starved ? os::out_of_memory() : error.what(), command::kEnvironment);
  } catch (const std::exception& error) {
    return fail(streams, fmt::format("internal error: {}; please report it", error.what()),
                command::kInternal);
  }
}

}  // namespace tw::cli
