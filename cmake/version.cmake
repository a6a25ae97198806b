# Writes version.cc with the commit of the work tree at every build, and only when it changed, so
# that a build of unchanged sources rebuilds nothing.
set(TW_VERSION_FILE ${PROJECT_BINARY_DIR}/generated/version.cc)
add_custom_target(tw_version_file
  BYPRODUCTS ${TW_VERSION_FILE}
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DOUTPUT=${TW_VERSION_FILE}
    -P ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake
  COMMENT "Checking the commit" VERBATIM)
