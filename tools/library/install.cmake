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

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/memverify RENAME copyright COMPONENT runtime)
