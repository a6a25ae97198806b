// SPDX-License-Identifier: Apache-2.0
// All-reduce by MPI_Allreduce, with the algorithm that the library chooses: mpi_exchange --sizes
// 1MiB,16MiB --repeats 5, started by mpirun.

#include <mpi.h>

#include "measure.h"

namespace tw::peers {
namespace {

/// MPI's own lifetime. Errors of MPI end all ranks, which is its default and all that is wanted.
class Session {
 public:
  Session() { MPI_Init(nullptr, nullptr); }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  int ranks() const {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }
  void sum(std::span<float> values) const {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
};

void run(const Request& request, const std::string&) {
  const Session session;
  measure_and_print({.rank = session.rank(),
                     .ranks = session.ranks(),
                     .sum = [&](std::span<float> values) { session.sum(values); }},
                    request);
}

}  // namespace
}  // namespace tw::peers

int main(int argc, char** argv) { return tw::peers::run_program(argc, argv, "", tw::peers::run); }
