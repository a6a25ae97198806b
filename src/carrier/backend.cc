// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/backend.h"

#include "trainwire/carrier/local.h"
#include "trainwire/carrier/tcp_counts.h"
#include "trainwire/transport/control.h"

#include <cstdio>
#include <exception>

namespace tw::carrier {
namespace {

void carry_for(const transport::Control& control, const BackendMaker& make) {
  const Assignment assignment = assignment_from(control.receive());
  const std::unique_ptr<Backend> backend = make(assignment);
  control.send({{"contact", backend->contact()}});
  backend->connect(contacts_from(control.receive().at("contacts")));
  std::vector<LocalWire> wires;
  for (const Wire& wire : assignment.wires) {
    wires.push_back({.wire = wire, .stream = receive_descriptor(control.descriptor())});
  }
  backend->carry(std::move(wires));
  control.send({{"ready", true}});
  control.receive();  // the rank has done its work
  const HeldConnections held;
  control.send({{"held", true}});
  control.receive();  // everybody has
  backend->stop();
  held.await_closing();
  control.send({{"tcp", to_json(held.counts())}});
}

}  // namespace

int run_carrier(const std::string& name, const BackendMaker& make) {
  try {
    const transport::Control control(meet(name));
    try {
      carry_for(control, make);
      return 0;
    } catch (const std::exception& error) {
      control.send({{"failed", error.what()}});
      throw;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace tw::carrier
