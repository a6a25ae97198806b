# TW_UNITY=ON: several sources are compiled as one unit, which halves the time of a build from nothing. Sources whose
# names would meet stay apart (unity_groups.awk); one that cannot be compiled with others is kept out by
# set_source_files_properties(x.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON).
option(TW_UNITY "Compile several sources as one unit" OFF)
set(TW_UNITY_SIZE 16 CACHE STRING "At most so many sources are one unit")

# tw_unity(TARGET MODULE the one whose namespace its sources are in; SOURCES ...)
function(tw_unity target)
  if(NOT TW_UNITY)
    return()
  endif()
  cmake_parse_arguments(ARG "" "MODULE" "SOURCES" ${ARGN})
  list(FILTER ARG_SOURCES EXCLUDE REGEX "^/")
  file(GLOB headers ${PROJECT_SOURCE_DIR}/src/base/*.h ${PROJECT_SOURCE_DIR}/src/${ARG_MODULE}/*.h)
  execute_process(
    COMMAND awk -v size=${TW_UNITY_SIZE} -f ${PROJECT_SOURCE_DIR}/cmake/unity_groups.awk
            KIND=header ${headers} KIND=source ${ARG_SOURCES}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(line ${groups})
    string(REGEX MATCH "^([0-9]+) (.*)$" _ "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ warns of unnamed namespaces in files that are included, which is what sources are now.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # A new name can part what was together.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers} ${ARG_SOURCES})
endfunction()
