// SPDX-License-Identifier: Apache-2.0
//
// A training loop without the learning: compute for a while, then sum gradients by MPI_Allreduce.
//
//   mpicc -O2 -o loop loop.c; loop BYTES STEPS COMPUTE_MS
//
// Every sum is checked; a rank marks its steps where TRAINWIRE_MARKS says.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(double ms) {
  const struct timespec length = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L};
  nanosleep(&length, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4 || atoll(argv[1]) < 4 || atoi(argv[2]) < 1) {
    fprintf(stderr, "loop BYTES STEPS COMPUTE_MS, at least four bytes and one step\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t floats = (size_t)atoll(argv[1]) / sizeof(float);
  const int steps = atoi(argv[2]);
  float* gradients = malloc(floats * sizeof(float));
  const char* path = getenv("TRAINWIRE_MARKS");
  FILE* marks = path != NULL ? fopen(path, "a") : NULL;
  if (gradients == NULL || (path != NULL && marks == NULL)) {
    fprintf(stderr, "rank %d: no memory, or %s cannot be written\n", rank, path != NULL ? path : "nothing");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < steps; ++step) {
    const double start = now_s();
    compute(atof(argv[3]));
    for (size_t i = 0; i < floats; ++i) gradients[i] = (float)(rank + step);
    MPI_Allreduce(MPI_IN_PLACE, gradients, (int)floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const float expected = (float)(ranks * step + ranks * (ranks - 1) / 2);
    for (size_t i = 0; i < floats; ++i) {
      if (gradients[i] == expected) continue;
      fprintf(stderr, "rank %d: step %d: element %zu is %f, not %f\n", rank, step, i, (double)gradients[i], (double)expected);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (marks != NULL) {
      fprintf(marks, "%d,%d,%.6f,%.6f\n", rank, step, start, now_s());
      fflush(marks);
    }
    if (rank == 0) printf("step %d: %.0f ms\n", step, 1000 * (now_s() - start));
    if (rank == 0) fflush(stdout);
  }
  if (marks != NULL) fclose(marks);
  free(gradients);
  MPI_Finalize();
  return 0;
}
