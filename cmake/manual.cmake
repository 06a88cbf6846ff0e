# Run by the target `manual`: the manual pages, completions and JSON Schema as the binary itself tells them.
# Given: MUSTER (the binary) and TO (the build folder).
file(REMOVE_RECURSE ${TO}/man ${TO}/completions)
file(MAKE_DIRECTORY ${TO}/completions)
execute_process(COMMAND ${MUSTER} man --to ${TO}/man COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MUSTER} completion bash OUTPUT_FILE ${TO}/completions/muster.bash COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MUSTER} completion zsh OUTPUT_FILE ${TO}/completions/_muster COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MUSTER} completion fish OUTPUT_FILE ${TO}/completions/muster.fish COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${MUSTER} schema OUTPUT_FILE ${TO}/muster.schema.json COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${TO}/manual.stamp)
