# cmake -P: writes OUTPUT with VERSION and the commit of SOURCE_DIR ("unknown" outside a checkout).
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
set(text "#include \"trainwire/command/version.h\"

namespace tw::command {
std::string_view version() { return \"${VERSION}\"; }
std::string_view commit() { return \"${commit}\"; }
}  // namespace tw::command
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
