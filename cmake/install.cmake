# cmake --install: the program, its manual page and completion, documents and examples. Documents and examples keep their
# places to one another, and the program names them by where they lie (base/shipped.h).
include(GNUInstallDirs)
set(TW_ZSH_FUNCTIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completion")
option(TW_BUNDLE "Look for shared libraries beside the installed program (tools/package's tarball)" OFF)
if(TW_BUNDLE)
  # RPATH, not RUNPATH: it holds for the libraries of libraries too.
  set_target_properties(trainwire PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/trainwire")
  target_link_options(trainwire PRIVATE -Wl,--disable-new-dtags)
endif()

set(completion ${PROJECT_BINARY_DIR}/generated/completion)
install(CODE "
  file(MAKE_DIRECTORY ${completion})
  execute_process(COMMAND $<TARGET_FILE:trainwire> completion bash OUTPUT_FILE ${completion}/trainwire COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND $<TARGET_FILE:trainwire> completion zsh OUTPUT_FILE ${completion}/_trainwire COMMAND_ERROR_IS_FATAL ANY)")
install(TARGETS trainwire RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES docs/trainwire.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completion}/trainwire DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_trainwire DESTINATION ${TW_ZSH_FUNCTIONS})
install(DIRECTORY python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/trainwire/python PATTERN "__pycache__" EXCLUDE
        PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples reproductions DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN trainwire.1 EXCLUDE PATTERN "*.run" EXCLUDE)

# tools/package: a Debian package, its Depends read off the program by dpkg-shlibdeps.
set(CPACK_PACKAGE_NAME trainwire)
set(CPACK_PACKAGE_CONTACT "the trainwire authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, iproute2")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Training, on the wire: the network side of distributed training
 One experiment file describes a network and the jobs that train on it; trainwire plans, runs and measures them with
 real packets, and tells from captures what a training job does to the network and the network to it.")
include(CPack)
