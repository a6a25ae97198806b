# Carried by every target of ours: tw_warnings. Warnings are errors.
add_library(tw_warnings INTERFACE)
target_compile_options(tw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-field-initializers -Werror)
# Those that g++ 12 raises falsely on optimised standard strings and variants (GCC bugs 105651, 105329, 105562).
target_compile_options(tw_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow>)
