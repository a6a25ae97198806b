# Carried by every target of ours: tw_warnings. Warnings are errors.
add_library(tw_warnings INTERFACE)
target_compile_options(tw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-field-initializers -Werror)
