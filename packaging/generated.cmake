# Run when muster is installed or packaged: writes what is made rather than kept. Given: muster (the binary), version,
# contact, documents and data (folders below the prefix).
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

function(compress file)
  execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# What the binary prints for these arguments, into a file; nothing where it does not know them.
function(print_to file)
  execute_process(COMMAND "${muster}" ${ARGN} OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND NOT text STREQUAL "")
    file(WRITE "${prefix}/${data}/${file}" "${text}")
    message(STATUS "Generated: ${prefix}/${data}/${file}")
  endif()
endfunction()

set(pages "${prefix}/${data}/man/man1")
file(MAKE_DIRECTORY "${pages}")
execute_process(COMMAND "${muster}" man --to "${pages}" OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE status)
file(GLOB written "${pages}/*.1")
foreach(page ${written})
  compress("${page}")
endforeach()

print_to(bash-completion/completions/muster completion bash)
print_to(zsh/vendor-completions/_muster completion zsh)
print_to(fish/vendor_completions.d/muster.fish completion fish)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, where it is set
set(changelog "${prefix}/${documents}/changelog")
file(WRITE "${changelog}" "muster (${version}) unstable; urgency=medium

  * Version ${version}.

 -- ${contact}  ${date}
")
compress("${changelog}")
