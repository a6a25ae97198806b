# Carried by every target of ours: tw_warnings. Warnings are errors, for g++: clang only builds the fuzz targets, and warns
# about other things.
add_library(tw_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tw_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-field-initializers -Werror)
  # Those that g++ 12 raises falsely on optimised standard strings and variants (GCC bugs 105651, 105329, 105562).
  target_compile_options(tw_warnings INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow)
endif()
