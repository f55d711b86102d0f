# What every command in bash begins with: source entry.bash NAME, as messages name it.
# The command's own shell is `bash -p`: functions of the caller, and what BASH_ENV names,
# stay outside.
# It sets
#   root     the checkout
#   cleanup  files and folders that are removed at the end
# and takes from the caller's environment what would change a result.
set -euo pipefail
root="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)"
command_name="$1"
cleanup=()

# Python's variables but those of its cache, and what hooks of git set.
for _variable in "${!PYTHON@}"; do
  case "$_variable" in
    PYTHONPYCACHEPREFIX | PYTHONDONTWRITEBYTECODE) ;;
    *) unset "$_variable" ;;
  esac
done
unset VIRTUAL_ENV BASH_ENV CDPATH GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR \
  GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE GIT_NAMESPACE GIT_OBJECT_DIRECTORY \
  GIT_PREFIX GIT_QUARANTINE_PATH GIT_SHALLOW_FILE GIT_WORK_TREE
export PYTHONNOUSERSITE=1
# OpenBLAS, of numpy, interrupts the program if it cannot start threads.
export OPENBLAS_NUM_THREADS=1

# 1 is a verdict: only `conclude 1` ends with it, never a line that fails.
_is_verdict=
conclude() {
  _is_verdict=yes
  exit "$1"
}

_ended() {
  local status=$1
  ((${#cleanup[@]} == 0)) || rm -rf "${cleanup[@]}"
  case "$status" in
    1 | 126 | 127)
      if [[ -z "$_is_verdict" ]]; then
        echo "$command_name: unexpected failure, see above" >&2
        status=2
      fi
      ;;
  esac
  exit "$status"
}
trap '_ended $?' EXIT

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$command_name: $*"
  exit 2
}

# refuse_empty WORD...: end if a word of the command line is empty.
refuse_empty() {
  local word
  for word; do
    [[ -n "$word" ]] || die "an argument is empty; give it a value, or leave it out"
  done
}

# spread WORD...: set `spread` to the words, with --name=value as two, up to a "--".
spread() {
  spread=()
  while (($#)) && [[ "$1" != -- ]]; do
    case "$1" in
      --?*=*) spread+=("${1%%=*}" "${1#*=}") ;;
      *) spread+=("$1") ;;
    esac
    shift
  done
  spread+=("$@")
}

# need PACKAGE PROGRAM...: end unless the programs are installed.
need() {
  local package="$1" program
  shift
  for program; do
    command -v "$program" >/dev/null ||
      die "$program is not installed; install the package $package"
  done
}

# Print the first Python that is new enough.
system_python() {
  local python candidates=(python3 /usr/bin/python3 python3.13 python3.12 python3.11)
  [[ -z "${KVMATRIX_PYTHON:-}" ]] || candidates=("$KVMATRIX_PYTHON")
  for python in "${candidates[@]}"; do
    if "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
    then
      printf '%s\n' "$python"
      return
    fi
  done
  [[ -z "${KVMATRIX_PYTHON:-}" ]] ||
    die "KVMATRIX_PYTHON=$KVMATRIX_PYTHON is not Python 3.11 or newer; set it to such" \
      "a program, or unset it"
  die "Python 3.11 or newer is required; install the package python3 (Debian 12 has" \
    "3.11), or set KVMATRIX_PYTHON to such a program"
}

# Replace the shell by a module of the checkout: run PYTHON MODULE ARGUMENT...
# -s and -P keep folders of the user, and the current one, out of the module path.
run() {
  exec "${later[@]}" "$1" -s -P "$root/scripts/basis/start.py" "$command_name" "${@:2}"
}
later=()  # what starts the program
