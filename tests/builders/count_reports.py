"""Reports of strace and valgrind on one process, as recorded."""

TABLE = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 99.78    0.011780           2      5169         3 write
  0.22    0.000026          26         1           clone3
  0.00    0.000000           0         1           writev
  0.00    0.000000           0         9           fdatasync
------ ----------- ----------- --------- --------- ----------------
100.00    0.011806           2      5180         3 total
"""
REFS = "==7== Cachegrind, a cache profiler\n==7== \n==7== I   refs:      40,882,481\n"
