# Text files that become part of the binary. As a module: muster_embed(); as a script (cmake -P), what it runs.

# muster_embed(room folder STYLE file.css SCRIPTS a.js b.js …): gives the room the functions of <folder>/assets.h.
function(muster_embed room folder)
  cmake_parse_arguments(ARG "" "STYLE" "SCRIPTS" ${ARGN})
  set(source ${CMAKE_SOURCE_DIR}/src/${room}/${folder})
  set(made ${CMAKE_BINARY_DIR}/embedded/${room}_${folder}_assets.cpp)
  set(files ${ARG_STYLE} ${ARG_SCRIPTS})
  list(TRANSFORM files PREPEND ${source}/)
  string(REPLACE ";" "," scripts "${ARG_SCRIPTS}")
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DMADE=${made} -DROOM=${room} -DFOLDER=${folder} -DSTYLE=${ARG_STYLE}
            -DSCRIPTS=${scripts} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding src/${room}/${folder}"
    VERBATIM)
  target_sources(muster_${room} PRIVATE ${made})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  # A string literal of more than 65,535 characters is no portable C++: one for each file.
  file(READ ${SOURCE}/${STYLE} style)
  set(text "// Made by cmake/embed.cmake.\n#include \"${ROOM}/${FOLDER}/assets.h\"\n\nnamespace muster::${ROOM}::${FOLDER} {\n\n")
  string(APPEND text "std::string_view style_sheet() {\n  return R\"asset(${style})asset\";\n}\n\n")
  string(APPEND text "std::string script() {\n  std::string all = \"(() => {\\n'use strict';\\n\";\n")
  string(REPLACE "," ";" scripts "${SCRIPTS}")
  foreach(name ${scripts})
    file(READ ${SOURCE}/${name} content)
    string(APPEND text "  all += R\"asset(${content})asset\";\n")
  endforeach()
  string(APPEND text "  return all + \"})();\\n\";\n}\n\n}  // namespace muster::${ROOM}::${FOLDER}\n")
  file(WRITE ${MADE} "${text}")
endif()
