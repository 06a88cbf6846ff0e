# What `cmake --install` installs, and the Debian package that `./dev package` makes of it.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the binary is enough: tests need not be built for a package
set(MUSTER_PACKAGE_CONTACT "muster maintainers <maintainers@muster.invalid>" CACHE STRING
    "Who is named as maintainer of the package: Name <address>")

install(TARGETS muster RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/*.json)
list(FILTER documents EXCLUDE REGEX "/docs/README\\.md$")  # the project's own is there under that name
install(FILES ${documents} ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_CURRENT_LIST_DIR}/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Manual pages and completions come from the binary itself; the changelog has the version's name and date.
install(CODE "set(muster \"$<TARGET_FILE:muster>\")
set(version \"${PROJECT_VERSION}\")
set(contact \"${MUSTER_PACKAGE_CONTACT}\")
set(documents \"${CMAKE_INSTALL_DOCDIR}\")
set(data \"${CMAKE_INSTALL_DATADIR}\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/generated.cmake)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_CONTACT ${MUSTER_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "load testing tool that judges its own results")
set(CPACK_PACKAGE_DESCRIPTION "Runs load tests that are written in YAML, or given on the command line, from one machine
with open and closed load models, checks, thresholds and values between workflows.
Latency counts from when a request was due, the generator reports when it was the
bottleneck itself, and results go to the terminal and to files for people and scripts.")
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
include(CPack)
