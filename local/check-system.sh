#!/bin/sh
# Refuses a start elsewhere than on Linux, before anything is installed: sandboxes are made of its name spaces.
[ "$(uname)" = Linux ] && exit 0
echo 'npm start needs Linux: run it in a virtual machine with Linux (on Windows WSL 2), or deploy to AWS (docs/deploy.md)' >&2
exit 1
