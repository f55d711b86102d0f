# add_java_plugin(NAME CLASS [ALSO class...] [JARS package...] [NATIVE member]
#                 [KNOWN_FAILURES test...] [EXCEPT test...])
#
# Makes the plug-in drivers/NAME.so for db_bench_plugin of the class CLASS, which is
# engines/CLASS.java; ALSO names more classes.  JARS are the packages of the engine's pins,
# its own first, whose version is that of the engine.  NATIVE is a library in that jar,
# which is unpacked to ${native_NAME}, so that it is not at each opening.  KNOWN_FAILURES
# are those of kvmatrix_add_driver().
#
# Plug-ins are built with the JDK ${KVM_JAVA_HOME}.  Without one, or if a jar is not
# installed, there is a message and no plug-in.

set(KVM_JAVA_RELEASE 17)
set(KVM_JAVA_CLASSES ${CMAKE_CURRENT_BINARY_DIR}/classes)
set(KVM_LIBJVM ${KVM_JAVA_HOME}/lib/server/libjvm.so)

# Compiles `sources` into the folder of classes `name`, with the class path `path`; what
# follows are dependencies.
function(add_java_classes name path sources)
  set(folder ${KVM_JAVA_CLASSES}/${name})
  add_custom_command(OUTPUT ${folder}.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${KVM_JAVA_HOME}/bin/javac -Xlint:all,-classfile,-path,-processing -Werror
            --release ${KVM_JAVA_RELEASE} -d ${folder} -classpath "${path}" ${sources}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
    DEPENDS ${sources} ${ARGN}
    VERBATIM)
endfunction()

# Makes the library java_bridge, which all plug-ins contain, and its classes.
function(add_java_bridge)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kvmatrix/*.java)
  add_java_classes(bridge "" "${sources}")
  add_custom_target(java_bridge_classes DEPENDS ${KVM_JAVA_CLASSES}/bridge.stamp)
  add_library(java_bridge OBJECT bridge.cc channel.cc jvm.cc)
  set_target_properties(java_bridge PROPERTIES
    CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(java_bridge PRIVATE "KVM_LIBJVM=\"${KVM_LIBJVM}\"")
  target_include_directories(java_bridge SYSTEM PRIVATE
    ${KVM_JAVA_HOME}/include ${KVM_JAVA_HOME}/include/linux)
  target_link_libraries(java_bridge PRIVATE kvmatrix_options kvmatrix::driver_api)
endfunction()

if(KVM_JAVA_HOME AND EXISTS ${KVM_LIBJVM} AND EXISTS ${KVM_JAVA_HOME}/include/jni.h)
  set(java_problem "")
  add_java_bridge()
elseif(KVM_JAVA_HOME)
  set(java_problem "no JDK in ${KVM_JAVA_HOME}: install one of version 17 or later")
else()
  set(java_problem "not selected (scripts/setup --with)")
endif()

# Sets what is known of the jars of `packages`: their paths, their pins (checksum and path
# in turn), the engine's version and origin; or `problem`, if one is not there.
function(find_jars packages)
  set(problem "${java_problem}")
  set(origin "this repository")
  set(version 1)
  set(jars "")
  set(pins "")
  foreach(package IN LISTS packages)
    set(of KVM_ENGINE_${package})
    file(GLOB jar ${${of}_PREFIX}/*.jar)
    if(NOT problem AND (NOT ${of}_PREFIX OR NOT jar))
      set(problem "no jar of ${package} (scripts/setup --with)")
    endif()
    if(jars STREQUAL "")
      set(origin "${${of}_ORIGIN}")
      set(version ${${of}_VERSION})
    else()
      string(APPEND origin ", ${package} ${${of}_VERSION}")
    endif()
    list(APPEND jars ${jar})
    list(APPEND pins ${${of}_SHA256} ${jar})
  endforeach()
  return(PROPAGATE problem origin version jars pins)
endfunction()

# Unpacks `member` of a jar, and sets `library` to its path.
function(unpack_library jar member)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/native)
  set(library ${folder}/${member})
  if(NOT EXISTS ${library} OR ${jar} IS_NEWER_THAN ${library})
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND ${CMAKE_COMMAND} -E tar xf ${jar} --touch ${member}
                    WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${jar})
  return(PROPAGATE library)
endfunction()

# Sets `source` to a file that imports __assert_fail if `library` does: then the plug-in has
# live assertions, although the library is not loaded when that is looked for.
function(find_assertions library)
  execute_process(COMMAND ${CMAKE_NM} -D ${library} OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  set(source "")
  if(symbols MATCHES "U __assert_fail")
    set(source ${CMAKE_CURRENT_BINARY_DIR}/live_assertions.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT
"extern \"C\" void __assert_fail();
[[gnu::used]] static void (*const kLiveAssertions)() = __assert_fail;
")
  endif()
  return(PROPAGATE source)
endfunction()

function(add_java_plugin name class)
  cmake_parse_arguments(arg "" "NATIVE" "ALSO;JARS;KNOWN_FAILURES;EXCEPT" ${ARGN})
  find_jars("${arg_JARS}")
  if(problem)
    not_built(${name} "${problem}")
    return()
  endif()
  file(REMOVE ${CMAKE_BINARY_DIR}/drivers/db_bench_${name}.why)
  set(library_path "")
  set(source "")
  if(arg_NATIVE)
    list(GET jars 0 jar)
    unpack_library(${jar} ${arg_NATIVE})
    set(native_${name} ${library})
    find_assertions(${library})
    cmake_path(GET library PARENT_PATH library_path)
  endif()
  list(TRANSFORM arg_ALSO REPLACE "(.+)" ${CMAKE_CURRENT_SOURCE_DIR}/engines/\\1.java)
  set(sources ${CMAKE_CURRENT_SOURCE_DIR}/engines/${class}.java ${arg_ALSO})
  list(JOIN jars ":" class_path)
  set(class_path ${KVM_JAVA_CLASSES}/bridge:${KVM_JAVA_CLASSES}/${name}:${class_path})
  add_java_classes(${name} "${class_path}" "${sources}"
                   java_bridge_classes ${KVM_JAVA_CLASSES}/bridge.stamp ${jars})
  set(facts ${CMAKE_CURRENT_BINARY_DIR}/engine_facts_${name}.cc)
  add_custom_command(OUTPUT ${facts}
    COMMAND ${KVM_JAVA_HOME}/bin/java -classpath "${class_path}" kvmatrix.Describe
            ${facts} ${name} engines.${class} "${origin}" ${version}
            "${class_path}" "${library_path}" ${pins}
    DEPENDS ${KVM_JAVA_CLASSES}/${name}.stamp ${jars}
    VERBATIM)
  kvmatrix_add_driver(${name} ${facts} ${source} $<TARGET_OBJECTS:java_bridge> C_INTERFACE
                      LIBRARIES kvmatrix_options ${CMAKE_DL_LIBS}
                      KNOWN_FAILURES ${arg_KNOWN_FAILURES} EXCEPT ${arg_EXCEPT})
  return(PROPAGATE native_${name})
endfunction()
