# TW_SANITIZE=address,undefined or =thread instruments every target of ours (presets asan, tsan). TW_FUZZ=ON adds the
# coverage that libFuzzer steers by, so that fuzz targets and tests share their libraries.
set(TW_SANITIZE "" CACHE STRING "Sanitizers for all targets, as -fsanitize= takes them")
option(TW_FUZZ "Build libFuzzer targets (needs clang)" OFF)
add_library(tw_sanitizers INTERFACE)
if(TW_SANITIZE)
  target_compile_options(tw_sanitizers INTERFACE
    -fsanitize=${TW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tw_sanitizers INTERFACE -fsanitize=${TW_SANITIZE})
endif()
if(TW_FUZZ)
  target_compile_options(tw_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()
