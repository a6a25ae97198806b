# tw_module(NAME HEADERS ... SOURCES ... TESTS ... DEPS other modules ... TEST_DEPS modules that only its tests use ...
#           LIBS outside libraries)
#
# One static library tw_NAME and one test program NAME_test. A module sees the headers of the modules
# it declares (and of theirs) and no others: each module's headers are reached through a folder of its
# own, build/include/NAME/trainwire/NAME, so an undeclared #include does not compile and an
# undeclared symbol does not link. Every header is also compiled alone.
function(tw_module name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;TESTS;DEPS;TEST_DEPS;LIBS" ${ARGN})
  set(include_dir ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir}/trainwire)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_dir}/trainwire/${name} SYMBOLIC)

  list(TRANSFORM ARG_DEPS PREPEND tw_)
  list(TRANSFORM ARG_TEST_DEPS PREPEND tw_)
  add_library(tw_${name} STATIC ${ARG_SOURCES} ${ARG_HEADERS})
  target_include_directories(tw_${name} PUBLIC ${include_dir})
  target_link_libraries(tw_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} PRIVATE tw_warnings tw_sanitizers)
  if(TW_PRECOMPILE)
    target_link_libraries(tw_${name} PRIVATE fmt::fmt)
    target_precompile_headers(tw_${name} REUSE_FROM tw_precompiled)
  endif()
  set_property(GLOBAL APPEND PROPERTY TW_MODULES ${name})
  # clang builds only the fuzz targets; g++ is the compiler the warnings are for.
  if(TW_FUZZ)
    return()
  endif()
  # One preset is enough to prove it.
  if(NOT TW_SANITIZE AND NOT TW_PRECOMPILE)
    tw_compile_headers_alone(${name} ${ARG_HEADERS})
  endif()

  add_executable(${name}_test ${ARG_TESTS})
  target_link_libraries(${name}_test PRIVATE tw_${name} ${ARG_TEST_DEPS} tw_test_main)
  target_precompile_headers(${name}_test REUSE_FROM tw_test_main)
  add_test(NAME ${name}_test COMMAND ${name}_test)
  set_tests_properties(${name}_test PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# TW_PRECOMPILE=ON halves the compiling of presets that nobody ships. Not for release: there every source includes its own
# header first, which proves that the header stands on its own includes; a precompiled header would hide what it lacks.
option(TW_PRECOMPILE "Compile libraries with a precompiled header" OFF)
if(TW_PRECOMPILE)
  add_library(tw_precompiled STATIC ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
  target_link_libraries(tw_precompiled PUBLIC fmt::fmt PRIVATE tw_warnings tw_sanitizers)
  target_precompile_headers(tw_precompiled PRIVATE <fmt/format.h> <nlohmann/json.hpp> <algorithm> <chrono> <map> <optional>
                            <span> <string> <string_view> <vector>)
endif()

# What every test program is linked with. Its precompiled header saves two seconds of compiling a file.
add_library(tw_test_main STATIC ${PROJECT_SOURCE_DIR}/cmake/test_main.cc)
target_link_libraries(tw_test_main PUBLIC tw_warnings tw_sanitizers GTest::gmock GTest::gtest)
target_compile_definitions(tw_test_main PUBLIC TW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_precompile_headers(tw_test_main PRIVATE <gmock/gmock.h> <map> <string> <vector>)

# Each header must stand on its own includes.
function(tw_compile_headers_alone name)
  foreach(header ${ARGN})
    set(source ${PROJECT_BINARY_DIR}/generated/alone/${name}/${header}.cc)
    if(NOT EXISTS ${source})
      file(WRITE ${source} "#include \"trainwire/${name}/${header}\"\n")
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(tw_${name}_headers OBJECT ${sources})
    target_link_libraries(tw_${name}_headers PRIVATE tw_${name} tw_warnings tw_sanitizers)
  endif()
endfunction()
