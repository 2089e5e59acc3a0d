#!/usr/bin/env bash
# A reader's first minutes: README's commands in an empty directory, with an empty HOME and next to no environment.
#   bash tests/rehearsals/fresh.sh [COMMAND ...]    other commands in their place, after README's clone
# Tests the last commit, and prints the seconds that each command took, and how fast the machine is.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
mkdir "$desk/home" "$desk/work"

commands=()
while IFS= read -r command; do commands+=("$command"); done < <(
  awk '/^```/ { if (inside) exit; inside = 1; next } inside { sub(/ +#.*/, ""); print }' "$root/README.md"
)
[ $# = 0 ] || commands=("${commands[0]}" "$@")

# Git answers README's address with this repository.
address=$(printf '%s\n' "${commands[0]}" | sed -E 's/^git clone ([^ ]+) .*/\1/')
git config --file "$desk/home/.gitconfig" "url.$root.insteadOf" "$address"

# What belongs to the machine, not to its user: where pip finds packages, how the network is reached, and which
# Python and Node.js are meant. A reader may also name versions and a browser.
for folder in .config/pip .pip "Library/Application Support/pip"; do
  [ ! -d "$HOME/$folder" ] || { mkdir -p "$desk/home/$folder" && cp -R "$HOME/$folder/." "$desk/home/$folder"; }
done
path=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
for tool in node "${PYTHON:-python3}"; do
  ! place=$(command -v "$tool") || path=$(dirname "$place"):$path
done
environment=("HOME=$desk/home" "PATH=$path")
for name in $(compgen -e); do
  case $name in
    PIP_* | *_proxy | *_PROXY | SSL_CERT_* | *_CA_BUNDLE | GIT_SSL_CAINFO | NODE_EXTRA_CA_CERTS | \
      PYTHON | CONSTRAINTS | HASHES | D2LPOS_REQUIRE_BROWSER | D2LPOS_REQUIRE_WEIGHTS | D2LPOS_WEIGHTS | D2LPOS_CHROMIUM | \
      D2LPOS_BOOK)
      environment+=("$name=${!name}")
      ;;
  esac
done

cd "$desk/work"
env -i "${environment[@]}" bash -u -c '
  for command; do
    echo "\$ $command"
    start=$SECONDS
    eval "$command" || exit
    times="${times-}$(printf "%5d s  %s" $((SECONDS - start)) "$command")
"
  done
  printf "%s" "$times"
  "${PYTHON:-python3}" -m tests.speed
' fresh "${commands[@]}" </dev/null
