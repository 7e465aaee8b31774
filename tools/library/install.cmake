# What `cmake --install` puts where.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public headers; docs/library.md and tools/docs speak of these.
set(MEMVERIFY_PUBLIC_HEADERS
  plan/version.h plan/ids.h plan/dtype.h plan/expr.h plan/region.h plan/plan.h plan/result.h
  plan/finding.h plan/builder.h plan/reader.h plan/writer.h plan/layout.h
  verify/verify.h sim/simulate.h sim/replay.h tools/library/check.h tools/library/memverify.h)

# Where the compiler finds them, they are below memverify/, so that nobody else's plan/ is met.
install(CODE "set(headers \"${MEMVERIFY_PUBLIC_HEADERS}\")
set(source \"${PROJECT_SOURCE_DIR}\")
set(include \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
include(\"${PROJECT_SOURCE_DIR}/tools/library/install_headers.cmake\")" COMPONENT dev)

install(TARGETS memverify RUNTIME COMPONENT runtime)
install(TARGETS memverify_c memverify_check memverify_planner memverify_sim memverify_verify
                memverify_plan EXPORT memverify
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev ARCHIVE COMPONENT dev)
install(EXPORT memverify NAMESPACE memverify:: FILE memverify-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memverify COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/python/memverify
  DESTINATION lib/python3/dist-packages COMPONENT runtime PATTERN __pycache__ EXCLUDE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/library/memverify-config.cmake.in
  ${PROJECT_BINARY_DIR}/memverify-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memverify)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memverify-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/memverify-config.cmake
              ${PROJECT_BINARY_DIR}/memverify-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/memverify COMPONENT dev)

# The manual and the completions come from the command's own tables of options.
find_program(MEMVERIFY_PYTHON python3 HINTS /usr/bin)
if(MEMVERIFY_PYTHON)
  set(command_files memverify memverify.1 _memverify memverify.fish)
  list(TRANSFORM command_files PREPEND ${PROJECT_BINARY_DIR}/command_files/)
  add_custom_command(OUTPUT ${command_files}
    COMMAND ${MEMVERIFY_PYTHON} ${PROJECT_SOURCE_DIR}/tools/package/command_files.py
            $<TARGET_FILE:memverify> ${PROJECT_BINARY_DIR}/command_files
    DEPENDS memverify ${PROJECT_SOURCE_DIR}/tools/package/command_files.py VERBATIM)
  add_custom_target(command_files ALL DEPENDS ${command_files})
  install(FILES ${PROJECT_BINARY_DIR}/command_files/memverify.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  install(FILES ${PROJECT_BINARY_DIR}/command_files/memverify
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
  install(FILES ${PROJECT_BINARY_DIR}/command_files/_memverify
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)
  install(FILES ${PROJECT_BINARY_DIR}/command_files/memverify.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/memverify RENAME copyright COMPONENT runtime)

# `cpack -G DEB` in the build folder: memverify, and memverify-dev with headers and static libraries.
set(CPACK_PACKAGE_NAME memverify)
set(CPACK_PACKAGE_CONTACT "memverify <memverify@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "proves that a memory plan is safe, or shows a run in which it is not")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # What the linker says that the files need.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME memverify)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "python3")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME memverify-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "memverify (= ${PROJECT_VERSION}), libz3-dev")
include(CPack)
