// SPDX-License-Identifier: Apache-2.0
//
// A training loop without the learning: compute, then exchange gradients by MPI, `steps` times.
//
//   mpi_loop MODE BYTES STEPS COMPUTE_MS {sleep|busy} STRAGGLER_RANK STRAGGLER_MS LOG_PREFIX
//
// MODE: allreduce    one MPI_Allreduce (its algorithm is chosen on mpirun's command line)
//       buckets      the same bytes in four buckets, each after a quarter of the compute
//       tree         MPI_Reduce to rank 0, then MPI_Bcast
//       clique       every rank reduces one piece: direct exchange with all others, twice
//       alltoall     MPI_Alltoall
//       negotiated   like allreduce, but ranks gather 16 bytes at rank 0 and hear back 16 bytes every 5 ms
//                    of compute, as Horovod's coordinator does
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMaxRanks = 64, kBuckets = 4, kNegotiationMs = 5, kNegotiationBytes = 16 };

struct Job {
  const char* mode;
  size_t floats;
  int steps;
  double compute_ms;
  int busy;
  int straggler_rank;
  double straggler_ms;
  const char* log_prefix;
  int rank;
  int ranks;
  float* gradients;
  float* scratch;
};

static double epoch_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_ms(double ms) {
  struct timespec length = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L};
  nanosleep(&length, NULL);
}

static void spin_ms(double ms) {
  const double end = epoch_seconds() + ms / 1000;
  while (epoch_seconds() < end) {
  }
}

static void compute(const struct Job* job, double ms) {
  if (job->busy) {
    spin_ms(ms);
  } else {
    pause_ms(ms);
  }
}

static void negotiate(void) {
  char mine[kNegotiationBytes] = {0};
  char all[kNegotiationBytes * kMaxRanks];
  MPI_Gather(mine, kNegotiationBytes, MPI_BYTE, all, kNegotiationBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(mine, kNegotiationBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void sum(float* data, size_t floats) {
  MPI_Allreduce(MPI_IN_PLACE, data, (int)floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void sum_over_tree(const struct Job* job) {
  const void* from = job->rank == 0 ? MPI_IN_PLACE : job->gradients;
  MPI_Reduce(from, job->gradients, (int)job->floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(job->gradients, (int)job->floats, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

// Sends piece p (of `out`) to rank p and receives one piece from each other rank at its place in `in`.
static void exchange_pieces(const struct Job* job, float* out, size_t out_stride, float* in, int piece) {
  MPI_Request requests[2 * kMaxRanks];
  int count = 0;
  for (int step = 1; step < job->ranks; ++step) {
    const int to = (job->rank + step) % job->ranks;
    const int from = (job->rank - step + job->ranks) % job->ranks;
    MPI_Irecv(in + (size_t)from * (size_t)piece, piece, MPI_FLOAT, from, 1, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(out + (size_t)to * out_stride, piece, MPI_FLOAT, to, 1, MPI_COMM_WORLD, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void sum_over_clique(const struct Job* job) {
  const int piece = (int)(job->floats / (size_t)job->ranks);
  float* own = job->gradients + (size_t)job->rank * (size_t)piece;
  exchange_pieces(job, job->gradients, (size_t)piece, job->scratch, piece);
  for (int from = 0; from < job->ranks; ++from) {
    for (int i = 0; from != job->rank && i < piece; ++i) {
      own[i] += job->scratch[(size_t)from * (size_t)piece + (size_t)i];
    }
  }
  exchange_pieces(job, own, 0, job->gradients, piece);
}

static void compute_and_exchange(const struct Job* job) {
  if (strcmp(job->mode, "buckets") == 0) {
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      compute(job, job->compute_ms / kBuckets);
      sum(job->gradients + (size_t)bucket * (job->floats / kBuckets), job->floats / kBuckets);
    }
    return;
  }
  if (strcmp(job->mode, "negotiated") == 0) {
    for (double done = 0; done < job->compute_ms; done += kNegotiationMs) {
      compute(job, kNegotiationMs);
      negotiate();
    }
  } else {
    compute(job, job->compute_ms);
  }
  if (job->rank == job->straggler_rank) {
    pause_ms(job->straggler_ms);
  }
  if (strcmp(job->mode, "tree") == 0) {
    sum_over_tree(job);
  } else if (strcmp(job->mode, "clique") == 0) {
    sum_over_clique(job);
  } else if (strcmp(job->mode, "alltoall") == 0) {
    const int piece = (int)(job->floats / (size_t)job->ranks);
    MPI_Alltoall(job->gradients, piece, MPI_FLOAT, job->scratch, piece, MPI_FLOAT, MPI_COMM_WORLD);
  } else {
    sum(job->gradients, job->floats);
  }
}

static void run(const struct Job* job) {
  double* times = malloc(sizeof(double) * 2 * (size_t)job->steps);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < job->steps; ++step) {
    times[2 * step] = epoch_seconds();
    compute_and_exchange(job);
    times[2 * step + 1] = epoch_seconds();
  }
  char path[4096];
  snprintf(path, sizeof path, "%s%d.csv", job->log_prefix, job->rank);
  FILE* log = fopen(path, "w");
  if (log == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int step = 0; step < job->steps; ++step) {
    fprintf(log, "%d,%d,%.6f,%.6f\n", job->rank, step, times[2 * step], times[2 * step + 1]);
  }
  fclose(log);
  free(times);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 9) {
    fprintf(stderr, "eight arguments expected\n");
    return 2;
  }
  struct Job job = {argv[1],       (size_t)atoll(argv[2]) / 4, atoi(argv[3]), atof(argv[4]), argv[5][0] == 'b',
                    atoi(argv[6]), atof(argv[7]),              argv[8],       0,             0,
                    NULL,          NULL};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  job.gradients = calloc(job.floats, sizeof(float));
  job.scratch = calloc(job.floats, sizeof(float));
  run(&job);
  free(job.gradients);
  free(job.scratch);
  MPI_Finalize();
  return 0;
}
