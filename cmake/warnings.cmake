# Carried by every target of ours: tw_warnings. TW_WERROR=ON (all presets) makes them errors: for those who change the code,
# not for those who build it with a compiler that we do not know. clang warns about other things, and is not asked.
option(TW_WERROR "Treat warnings as errors" OFF)
add_library(tw_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tw_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-field-initializers $<$<BOOL:${TW_WERROR}>:-Werror>)
  # Those that g++ 12 raises falsely on optimised standard strings and variants (GCC bugs 105651, 105329, 105562).
  target_compile_options(tw_warnings INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow)
endif()
