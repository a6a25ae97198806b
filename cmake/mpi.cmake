# Finds MPI where its headers are. Open MPI's compiler comes with mpirun, without them, and FindMPI, asked there, ends the configuration.
find_path(TW_MPI_HEADERS mpi.h PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include)
if(TW_MPI_HEADERS)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
