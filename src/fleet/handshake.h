// SPDX-License-Identifier: Apache-2.0
// How a run and a host find out that both know the run's token, which never travels itself.
//
//   run  -> host  {"nonce": R}
//   host -> run   {"nonce": H, "proof": HMAC-SHA256(token, "host" H R), and who it is}
//   run  -> host  {"proof": HMAC-SHA256(token, "run" H R)}
//
// Nonces are 16 bytes of the kernel's generator, drawn anew for every connection. A host does
// nothing that it is told before it has the run's proof.
//
// Limits: what follows is neither enciphered nor signed. Somebody between the two who can change
// packets can pass on both proofs and then say what he likes.

#pragma once

#include "trainwire/fleet/link.h"
#include "trainwire/transport/tcp/hello.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tw::fleet {

using Nonce = transport::tcp::Token;

struct Nonces {
  Nonce host;
  Nonce run;
};

/// `who` is "host" or "run".
std::string proof(const transport::tcp::Token& token, std::string_view who, const Nonces& nonces);

/// The run's side, for the first frame of a host; nothing unless the host knows the token. Throws
/// what reading JSON throws.
std::optional<std::string> answer_to(const nlohmann::json& hello,
                                     const transport::tcp::Token& token, const Nonce& run);

/// The host's side, which waits: introduces itself with `hello` to a run that proves itself.
/// `look` is called now and then and throws when there is no point in waiting. Throws Error: the run
/// refused it, did not prove itself, said something else or nothing for so long.
void meet_run(Link& link, const transport::tcp::Token& token, nlohmann::json hello,
              std::chrono::nanoseconds longest, const std::function<void()>& look);

}  // namespace tw::fleet
