#!/bin/sh
# The commits since the last tag, newest first, without merges.
last=$(git describe --tags --abbrev=0 2>/dev/null)
git log --no-merges --format='%h %s' "${last:+$last..}HEAD"
