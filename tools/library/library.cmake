# The library: what of tools/ needs no command line and no importer, and the C functions over it.
include(GNUInstallDirs)

set(check_sources ask_engines branch_split confirm diagnostics engines exit_code plan_advice
    plan_branches plan_report planning report report_json report_text simulated slot_gain style
    verifiable library/check library/option_reader)
list(TRANSFORM check_sources PREPEND ${PROJECT_SOURCE_DIR}/tools/)
list(TRANSFORM check_sources APPEND .cpp)
memverify_static(check SOURCES ${check_sources} DEPS planner verify sim plan
                 PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

add_library(memverify_c SHARED ${PROJECT_SOURCE_DIR}/tools/library/memverify.cpp)
add_library(memverify::c ALIAS memverify_c)
set_target_properties(memverify_c PROPERTIES
  OUTPUT_NAME memverify EXPORT_NAME c VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/tools/library/memverify.map)
target_link_libraries(memverify_c PRIVATE memverify::check)
target_link_options(memverify_c PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/tools/library/memverify.map)
target_include_directories(memverify_c INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tools/library> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
