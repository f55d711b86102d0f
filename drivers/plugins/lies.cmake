# cmake -DPROGRAM=db_bench_lying_plugin -DDRIVER=PATH -P lies.cmake
#
# Lets the plug-in lie in every way that one process can notice, and fails unless each
# lie, and nothing else, is called wrong.

set(folder $ENV{TMPDIR})
if(NOT folder)
  set(folder /tmp)
endif()
string(RANDOM LENGTH 12 name)
set(folder ${folder}/kvmatrix-lies-${name})
file(MAKE_DIRECTORY ${folder})

set(lies get-flip get-truncate get-forget get-absent drop drop-one half lower-half empty
  stale truncate pad flip-first flip-last flip-any other-value undeleted undeleted-some)
set(benchmarks fillrandom,readrandom,readmissing,overwrite,readrandom,deleterandom,verify)
execute_process(COMMAND ${PROGRAM} --driver=${DRIVER} --describe
  OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
string(JSON scans GET "${answer}" scans)
string(JSON stores GET "${answer}" stores)
if(NOT stores)
  message(STATUS "keeps nothing, so that no answer is compared")
  return()
endif()
if(scans STREQUAL "both ways")
  list(APPEND lies scan-swap scan-half scan-skip scan-stop scan-twice scan-neighbour
    scan-value scan-intruder seek-neighbour)
  string(APPEND benchmarks ",fillrandom,readseq,seekrandom")
endif()

foreach(lie IN ITEMS none LISTS lies)
  execute_process(
    COMMAND ${PROGRAM} --driver=${DRIVER} --lie=${lie} --lie_every=50 --num=2000
      --db=${folder}/db --benchmarks=${benchmarks}
    OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE status)
  set(caught FALSE)
  if(output MATCHES ": wrong\n")
    set(caught TRUE)
  endif()
  if(lie STREQUAL "none" AND NOT status STREQUAL "0")
    list(APPEND problems "the honest engine fails:\n${output}${error}")
  elseif(NOT lie STREQUAL "none" AND NOT caught)
    list(APPEND problems "the lie ${lie} is not noticed:\n${output}${error}")
  endif()
endforeach()
file(REMOVE_RECURSE ${folder})
if(problems)
  message(FATAL_ERROR "${problems}")
endif()
list(LENGTH lies count)
message(STATUS "all ${count} lies were called wrong")
