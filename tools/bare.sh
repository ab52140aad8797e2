#!/usr/bin/env bash
# What ./howlate can tell before anything is installed: the version, the help, the lists of what the checkout holds. It takes bash,
# and python3 of any age for the options of a command.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
name=${HOWLATE_COMMAND:-./howlate}

first_line() { # file of Python: the first line of its docstring
  sed -n '1{s/^"""//;s/[."]*$//;p;q}' "$1"
}

list_commands() { # folder
  local file word
  for file in "$1"/*; do
    word=${file##*/}
    case $word in _* | *.md) continue ;; esac
    [ -d "$file" ] && file=$file/__init__.py
    [ -e "$file" ] || continue
    word=${word%.py}
    printf '  %-10s %s\n' "${word%_}" "$(first_line "$file")"
  done
}

plain_help() { # [command]
  local file=$root/src/howlate/cli/${1:-}
  if [ -z "${1:-}" ]; then
    printf 'Usage: %s [OPTIONS] COMMAND [ARGS]...\n\n' "$name"
    printf '  How late can your Linux be? Measures it under load and says what the numbers allow you to promise.\n\n'
    printf 'Commands:\n'
    list_commands "$root/src/howlate/cli"
    printf '\nExample: %s check\n' "$name"
  elif [ -d "$file" ]; then
    printf 'Usage: %s %s COMMAND [ARGS]...\n\nCommands:\n' "$name" "$1"
    list_commands "$file"
  else
    for file in "$file.py" "${file}_.py"; do
      [ ! -e "$file" ] || printf 'Usage: %s %s [OPTIONS] ...\n\n  %s.\n' "$name" "$1" "$(first_line "$file")"
    done
  fi
  say "its options are told once howlate is set up, which \`$name check\` does"
}

help() { # argument ...
  local word words=()
  for word in "$@"; do case $word in -*) ;; *) words+=("$word") ;; esac; done
  [ ${#words[@]} -eq 0 ] || [ -e "$root/src/howlate/cli/${words[0]}.py" ] || [ -e "$root/src/howlate/cli/${words[0]}_.py" ] ||
    [ -d "$root/src/howlate/cli/${words[0]}" ] || die $EXIT_USAGE "\"${words[0]}\" is not a command. \`$name --help\` shows which are"
  if command -v python3 >/dev/null && python3 "$root/tools/bare_help.py" "$name" ${words[@]+"${words[@]}"} 2>/dev/null; then return; fi
  plain_help ${words[@]+"${words[@]:0:1}"}
}

list_titles() { # folder
  local file id
  for file in "$root/$1"/*.toml; do
    id=${file##*/}
    printf '%-18s  %s\n' "${id%.toml}" "$(sed -n 's/^title = "\(.*\)"$/\1/p' "$file" | head -n 1)"
  done
}

case "$*" in
  --version) printf 'howlate, version %s\n' "$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/src/howlate/__init__.py")" ;;
  "") help >&2; exit $EXIT_USAGE ;;
  studies) list_titles studies ;;
  reference | "reference list") list_titles reference ;;
  lab) help lab; exit $EXIT_USAGE ;;
  *)
    case " $* " in
      *" --help "* | *" -h "*) help "$@" ;;
      *) die $EXIT_NOT_POSSIBLE "'$*' needs howlate's Python packages, which are not there yet. \`$name check\` sets everything up" ;;
    esac
    ;;
esac
