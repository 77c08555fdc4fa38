# Text files that become part of the program, so that it needs no path of the source tree when it
# runs:
#
#   ingot_embed_text(TARGET NAMESPACE FUNCTION FILE...)
#
# adds to TARGET a source in the build folder that defines
#   std::span<const ingot::EmbeddedFile> NAMESPACE::FUNCTION();
# (support/embedded_file.h): each file's name without its folder, and its text, in the order given.
# The caller declares that function in a header. The text must not contain `)INGOT_TEXT"`.
#
# The same file is the script that writes the source when one of the files has changed.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(text "// Made by cmake/EmbedText.cmake.\n#include \"support/embedded_file.h\"\n\n")
  string(APPEND text "namespace ${NAMESPACE} {\n")
  string(APPEND text "std::span<const ingot::EmbeddedFile> ${FUNCTION}();\n")
  string(APPEND text "std::span<const ingot::EmbeddedFile> ${FUNCTION}() {\n")
  string(APPEND text "  static constexpr ingot::EmbeddedFile kFiles[] = {\n")
  foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" content)
    if(content MATCHES "\\)INGOT_TEXT\"")
      message(FATAL_ERROR "${file} contains the end mark of embedded text")
    endif()
    string(APPEND text "{\"${name}\", R\"INGOT_TEXT(${content})INGOT_TEXT\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kFiles;\n}\n}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(INGOT_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(ingot_embed_text target namespace function)
  set(files)
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_${function}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAMESPACE=${namespace} -DFUNCTION=${function} "-DFILES=${files}"
            -DOUTPUT=${output} -P ${INGOT_EMBED_TEXT_SCRIPT}
    DEPENDS ${files} ${INGOT_EMBED_TEXT_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
