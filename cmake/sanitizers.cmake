# TW_SANITIZE=address,undefined or =thread instruments every target of ours (presets asan, tsan).
set(TW_SANITIZE "" CACHE STRING "Sanitizers for all targets, as -fsanitize= takes them")
add_library(tw_sanitizers INTERFACE)
if(TW_SANITIZE)
  target_compile_options(tw_sanitizers INTERFACE
    -fsanitize=${TW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tw_sanitizers INTERFACE -fsanitize=${TW_SANITIZE})
endif()
