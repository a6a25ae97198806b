# tw_module(NAME [MEASURES] [BUSY] HEADERS ... SOURCES ... TESTS ... DEPS other modules ... TEST_DEPS modules that only its tests use ...
#           LIBS outside libraries)
#
# One static library tw_NAME and one test program NAME_test. A module sees the headers of the modules
# it declares (and of theirs) and no others: each module's headers are reached through a folder of its
# own, build/include/NAME/trainwire/NAME, so an undeclared #include does not compile and an
# undeclared symbol does not link.
#
# MEASURES: its tests measure times or count what the kernel has; they run alone, and not under sanitizers (./check all
# runs them there too).
#
# BUSY: its tests go round long loops in it, so that it is optimised in builds for debugging too. Others, and all tests, are
# not: compiling them that way takes longer than it saves.
function(tw_module name)
  cmake_parse_arguments(ARG "MEASURES;BUSY" "" "HEADERS;SOURCES;TESTS;DEPS;TEST_DEPS;LIBS" ${ARGN})
  set(include_dir ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir}/trainwire)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_dir}/trainwire/${name} SYMBOLIC)

  set(deps ${ARG_DEPS})
  list(TRANSFORM ARG_DEPS PREPEND tw_)
  add_library(tw_${name} STATIC ${ARG_SOURCES} ${ARG_HEADERS})
  target_include_directories(tw_${name} PUBLIC ${include_dir})
  target_link_libraries(tw_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} PRIVATE tw_warnings tw_sanitizers)
  set(precompiled tw_precompiled)
  if(ARG_BUSY AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(tw_${name} PRIVATE -O1)
    set(precompiled tw_precompiled_busy)
  endif()
  tw_unity(tw_${name} MODULE ${name} SOURCES ${ARG_SOURCES})
  if(TW_PRECOMPILE)
    target_link_libraries(tw_${name} PUBLIC tw_precompiled)
    target_precompile_headers(tw_${name} REUSE_FROM ${precompiled})
  endif()
  if(TW_TESTS)
    tw_compile_headers_alone(${name} ${ARG_HEADERS})
    tw_module_test(${name} "${ARG_MEASURES}" MODULES base ${name} ${deps} ${ARG_TEST_DEPS} TESTS ${ARG_TESTS})
  endif()
endfunction()

# ./check runs these in the release build, and all others under the sanitizers.
add_custom_target(measuring_tests)

# Tests of a large module are spread over several entries of ctest, which run at the same time.
function(tw_module_test name measures)
  cmake_parse_arguments(ARG "" "" "MODULES;TESTS" ${ARGN})
  add_executable(${name}_test ${ARG_TESTS})
  list(TRANSFORM ARG_MODULES PREPEND tw_ OUTPUT_VARIABLE libraries)
  target_link_libraries(${name}_test PRIVATE ${libraries} tw_test_main)
  target_precompile_headers(${name}_test REUSE_FROM tw_test_main)
  tw_unity(${name}_test MODULE ${name} SOURCES ${ARG_TESTS})
  list(LENGTH ARG_TESTS files)
  math(EXPR shards "(${files} + 11) / 12")
  if(measures OR shards LESS 2)
    add_test(NAME ${name}_test COMMAND ${name}_test)
    set_tests_properties(${name}_test PROPERTIES LABELS unit TIMEOUT 300)
    if(measures)
      set_tests_properties(${name}_test PROPERTIES LABELS measures RUN_SERIAL TRUE)
      add_dependencies(measuring_tests ${name}_test)
    endif()
    return()
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}_test/${shard} COMMAND ${name}_test)
    set_tests_properties(${name}_test/${shard} PROPERTIES LABELS unit TIMEOUT 300
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# TW_PRECOMPILE=ON: everything is compiled with a precompiled header of what comes from outside.
option(TW_PRECOMPILE "Compile with a precompiled header" OFF)
if(TW_PRECOMPILE)
  function(tw_precompiled_header name)
    add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
    target_link_libraries(${name} PUBLIC fmt::fmt nlohmann_json::nlohmann_json PRIVATE tw_warnings tw_sanitizers)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endfunction()
  tw_precompiled_header(tw_precompiled)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    tw_precompiled_header(tw_precompiled_busy)
    target_compile_options(tw_precompiled_busy PRIVATE -O1)
  endif()
endif()

# What every test program is linked with. Its precompiled header saves two seconds of compiling a file.
if(TW_TESTS)
  add_library(tw_test_main STATIC ${PROJECT_SOURCE_DIR}/cmake/test_main.cc)
  target_link_libraries(tw_test_main PUBLIC tw_warnings tw_sanitizers GTest::gmock GTest::gtest)
  target_compile_definitions(tw_test_main PUBLIC TW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(tw_test_main PRIVATE <gmock/gmock.h>)
  if(TW_PRECOMPILE)
    target_link_libraries(tw_test_main PUBLIC tw_precompiled)
    target_precompile_headers(tw_test_main PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endif()
endif()

# Each header must stand on its own includes: `ninja headers_alone` compiles every one by itself. Most are also the first
# include of a source; this is for the proof, and takes long (./check all).
function(tw_compile_headers_alone name)
  if(NOT TARGET headers_alone)
    add_custom_target(headers_alone)
  endif()
  foreach(header ${ARGN})
    set(source ${PROJECT_BINARY_DIR}/generated/alone/${name}/${header}.cc)
    if(NOT EXISTS ${source})
      file(WRITE ${source} "#include \"trainwire/${name}/${header}\"\n")
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(tw_${name}_headers OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(tw_${name}_headers PRIVATE tw_${name} tw_warnings tw_sanitizers)
    add_dependencies(headers_alone tw_${name}_headers)
  endif()
endfunction()
