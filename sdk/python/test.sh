#!/bin/sh
# Tests of the Python client: types, then tests, in an environment of their own below node_modules. It needs Python 3.10 or
# newer and a package index; PYTHON names another interpreter. The rest of the repository's tests needs neither.
set -eu
cd "$(dirname "$0")"
environment=../../node_modules/.python
[ -x "$environment/bin/python" ] || "${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[test]'
"$environment/bin/mypy"
exec "$environment/bin/pytest" -p no:cacheprovider "$@"
