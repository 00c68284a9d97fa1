#!/bin/sh
# Checks the sources without building them: ranks, shape, format.
# Exit status 1 when any check fails; all are run.
cd "$(dirname "$0")/.." || exit 1
status=0
python3 tools/check_layers.py || status=1
python3 tools/check_style.py || status=1
exit $status
