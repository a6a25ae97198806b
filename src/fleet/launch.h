// SPDX-License-Identifier: Apache-2.0
// How a process is started on every host: the words of srun, mpirun or ssh. The process is
// `trainwire host`, which finds by itself which host it is (seat.h) and joins the run.
//
// The run's token never stands among the words, which every user of a machine can read: srun and
// mpirun carry it as a variable, ssh on standard input.
//
// Whatever else launchers need they take from their own variables: SLURM_PARTITION,
// OMPI_MCA_orte_default_hostfile, TRAINWIRE_SSH (a command in place of ssh).

#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::fleet {

enum class LaunchKind {
  Srun,
  Mpirun,
  Ssh,
  Wait,  ///< somebody else starts them
};

/// What --launch says, and what goes with it.
struct Launch {
  LaunchKind kind = LaunchKind::Wait;
  std::string host_file = {};  ///< of ssh
  std::string interface = {};  ///< of the hosts' data; "": the one that reaches the run
  int port = 0;                ///< that the run listens on; 0: the kernel's choice
  bool operator==(const Launch&) const = default;
};

/// "srun", "mpirun", "ssh:FILE" or "wait". Throws SpecError.
Launch parse_launch(std::string_view text);
/// "srun", as the record names it.
std::string name_of(LaunchKind kind);

/// A line of the file of hosts.
struct NamedHost {
  std::string name;            ///< as ssh takes it: a name, an address, user@name
  std::string interface = {};  ///< "": the run's
  bool operator==(const NamedHost&) const = default;
};

/// One host a line, "interface=NAME" behind it if it has one of its own; what follows # is left out.
/// `file` is for messages. Throws SpecError.
std::vector<NamedHost> parse_hosts(std::string_view text, const std::string& file);

/// How many machines there are: as many as were asked for, or as the file of hosts has, or as the
/// job of Slurm that this is. Throws SpecError when nobody says.
int machine_count(const Launch& launch, std::optional<int> asked);

/// What is started.
struct HostProgram {
  std::vector<std::string> words;  ///< trainwire host --join ..., as this machine would start it
  int hosts = 1;
};

/// One process to start here.
struct LaunchWords {
  std::vector<std::string> words;
  std::string label;            ///< "srun", "ssh host2"
  bool token_on_input = false;  ///< otherwise as the variable kTokenVariable
};
inline constexpr const char* kTokenVariable = "TRAINWIRE_TOKEN";

/// `ssh` is the command that reaches another machine, with its options. REQUIRES: not Wait; as many
/// named hosts as hosts for Ssh.
std::vector<LaunchWords> launch_words(const Launch& launch, const HostProgram& program,
                                      const std::vector<NamedHost>& named,
                                      const std::vector<std::string>& ssh);

/// A program of somebody's, `ranks` times on those hosts, by srun or mpirun themselves, so that it
/// finds what they give. REQUIRES: Srun or Mpirun.
std::vector<std::string> program_words(const Launch& launch, int hosts, int ranks,
                                       const std::vector<std::string>& program);

/// "NAME=value": the own ones, and those inherited whose name is not among them.
std::vector<std::string> environment_with(const std::vector<std::string>& own,
                                          const std::vector<std::string>& inherited);

/// The last line that says something: not of blanks and dashes alone, with which mpirun frames its
/// messages. "" when there is none.
std::string last_words(std::istream& output);
/// Why a launcher failed: srun's first error, since what follows from it comes behind; otherwise its
/// last words.
std::string telling_words(std::istream& output);

/// As a shell of another machine has to read it.
std::string quoted(const std::string& word);

}  // namespace tw::fleet
