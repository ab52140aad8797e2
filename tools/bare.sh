#!/usr/bin/env bash
# What ./howlate can tell before anything is installed: the version, the help, the lists of what the checkout holds. It takes bash,
# and python3 of any age for the options of a command.
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
name=${HOWLATE_COMMAND:-./howlate}
folders=("$root/src/howlate/cli" "$root"/src/howlate/*/cli)

# A folder's files, and those of the folders of that name in the rooms of src/howlate/rooms.py: FILE ..., by their names.
by_name() { # file ...
  printf '%s\n' "$@" | awk -F/ '{ print $NF "\t" $0 }' | sort | cut -f 2-
}

# The file of a command of any of these folders: run.py, import_.py or lab/
file_of() { # command
  local folder file
  for folder in "${folders[@]}"; do
    for file in "$folder/$1.py" "$folder/${1}_.py" "$folder/$1"; do
      [ ! -e "$file" ] || { printf '%s\n' "$file"; return; }
    done
  done
  return 1
}

first_line() { # file of Python: the first line of its docstring
  sed -n '1{s/^"""//;s/[."]*$//;p;q}' "$1"
}

list_commands() { # folder ...
  local file word
  by_name "$@" | while read -r file; do
    word=${file##*/}
    case $word in _*) continue ;; esac
    [ -d "$file" ] && file=$file/__init__.py
    [ -e "$file" ] || continue
    word=${word%.py}
    printf '  %-10s %s\n' "${word%_}" "$(first_line "$file")"
  done
}

plain_help() { # [command]
  local file folder files=()
  if [ -z "${1:-}" ]; then
    printf 'Usage: %s [OPTIONS] COMMAND [ARGS]...\n\n' "$name"
    printf '  How late can your Linux be? Measures it under load and says what the numbers allow you to promise.\n\n'
    printf 'Commands:\n'
    for folder in "${folders[@]}"; do files+=("$folder"/*); done
    list_commands "${files[@]}"
    printf '\nExample: %s check\n' "$name"
  elif file=$(file_of "$1") && [ -d "$file" ]; then
    printf 'Usage: %s %s COMMAND [ARGS]...\n\nCommands:\n' "$name" "$1"
    list_commands "$file"/* "$root/src/howlate"/*/"$1"/*
  else
    printf 'Usage: %s %s [OPTIONS] ...\n\n  %s.\n' "$name" "$1" "$(first_line "$file")"
  fi
  say "its options are told once howlate is set up, which \`$name check\` does"
}

help() { # argument ...
  local word words=()
  for word in "$@"; do case $word in -*) ;; *) words+=("$word") ;; esac; done
  [ ${#words[@]} -eq 0 ] || file_of "${words[0]}" >/dev/null ||
    die $EXIT_USAGE "\"${words[0]}\" is not a command. \`$name --help\` shows which are"
  if command -v python3 >/dev/null && python3 -I "$root/tools/bare_help.py" "$name" ${words[@]+"${words[@]}"} 2>/dev/null; then return; fi
  plain_help ${words[@]+"${words[@]:0:1}"}
}

list_titles() { # file ...
  local file id
  by_name "$@" | while read -r file; do
    id=${file##*/}
    printf '%-18s  %s\n' "${id%.toml}" "$(sed -n 's/^title = "\(.*\)"$/\1/p' "$file" | head -n 1)"
  done
}

case "$*" in
  --version) printf 'howlate, version %s\n' "$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/src/howlate/__init__.py")" ;;
  "") help >&2; exit $EXIT_USAGE ;;
  studies) list_titles "$root"/src/howlate/{,*/}studies/*.toml ;;
  reference | "reference list") list_titles "$root"/src/howlate/published/documents/*.toml ;;
  lab) help lab; exit $EXIT_USAGE ;;
  *)
    case " $* " in
      *" --help "* | *" -h "*) help "$@" ;;
      *) die $EXIT_NOT_POSSIBLE "'$*' needs howlate's Python packages, which are not there yet. \`$name check\` sets everything up" ;;
    esac
    ;;
esac
