#!/bin/sh
# Installs what package-lock.json names, unless what is there is as new: before every npm script, so that one command
# is enough after a clone or a pull. It prints a line first, since npm is silent for minutes without a terminal.
# Of two at once the second waits, where the system has locks: two installations delete each other's packages.
[ node_modules/.package-lock.json -nt package-lock.json ] && exit 0
[ "$1" != locked ] && command -v flock >/dev/null && exec flock package-lock.json sh "$0" locked
echo 'Installing packages: a minute or two, and only when they have changed' >&2
exec npm ci
