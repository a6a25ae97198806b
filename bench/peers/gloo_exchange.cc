// SPDX-License-Identifier: Apache-2.0
// All-reduce by Gloo's ring, called as PyTorch's DistributedDataParallel calls it: gloo_exchange
// FOLDER --sizes 1MiB,16MiB --repeats 5. RANK, WORLD_SIZE and GLOO_SOCKET_IFNAME come from the
// environment; ranks meet in FOLDER, which must be empty.

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "measure.h"
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace tw::peers {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    throw SystemError(fmt::format("{} is not set; start this by `trainwire exec`", name));
  }
  return value;
}

int number(const char* name) {
  const std::string_view text = variable(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) {
    throw SystemError(fmt::format("{} is \"{}\", not a number", name, text));
  }
  return value;
}

std::shared_ptr<gloo::Context> connect(const std::string& folder, int rank, int ranks) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = variable("GLOO_SOCKET_IFNAME");
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  return context;
}

void sum(const std::shared_ptr<gloo::Context>& context, std::span<float> values) {
  using Sum = void (*)(void*, const void*, const void*, std::size_t);
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  options.setReduceFunction(static_cast<Sum>(&gloo::sum<float>));
  options.setOutput(values.data(), values.size());
  gloo::allreduce(options);
}

void run(const Request& request, const std::string& folder) {
  const int rank = number("RANK");
  const int ranks = number("WORLD_SIZE");
  const auto context = connect(folder, rank, ranks);
  measure_and_print(
      {.rank = rank, .ranks = ranks, .sum = [&](std::span<float> values) { sum(context, values); }},
      request);
}

}  // namespace
}  // namespace tw::peers

int main(int argc, char** argv) {
  return tw::peers::run_program(argc, argv, "FOLDER", tw::peers::run);
}
