#!/bin/sh
# Installs what package-lock.json names, unless what is there is as new: before every npm script, so that one command
# is enough after a clone or a pull. It prints a line first, since npm is silent for minutes without a terminal.
# Of two at once the second waits, where the system has locks: two installations delete each other's packages.
# An installation also deletes those from which a program runs, which loads more of them later: it is refused. So is one through a
# link, which would empty the packages of another checkout.
[ node_modules/.package-lock.json -nt package-lock.json ] && exit 0
[ "$1" != locked ] && command -v flock >/dev/null && exec flock package-lock.json sh "$0" locked

# A process by its number and its start (sandbox-task/process-identity.ts), where the system has /proc.
is_running() {
  [ -r "/proc/$1/stat" ] || { [ ! -e /proc/self ] && kill -0 "$1" 2>/dev/null; return; }
  [ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)" = "$2" ]
}
for held in node_modules/.functions/*/held-by-*; do
  pid=${held##*held-by-}
  [ -e "$held" ] && is_running "$pid" "$(cat "$held")" || continue
  echo "The packages have changed, and process $pid runs from those that are installed: stop it, and repeat this command" >&2
  exit 1
done

if [ -L node_modules ]; then
  echo 'The packages have changed, and node_modules is a link to those of another checkout: remove the link, and repeat this command' >&2
  exit 1
fi

echo 'Installing packages: a minute or two, and only when they have changed' >&2
exec npm ci
