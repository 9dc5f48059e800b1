#!/bin/sh
# Installs what the tests of the web app need beside Python: Chromium and PostgreSQL.
# Without them those tests are skipped, each with its reason.
missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing="chromium"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
  || missing="$missing postgresql"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing$(printf ' %s' $missing) for the tests of the web app …"
  export DEBIAN_FRONTEND=noninteractive
  if apt-get update -qq >/dev/null && apt-get install -qq -y --no-install-recommends $missing >/dev/null
  then exit 0; fi
fi
echo "Some tests of the web app will be skipped: install$(printf ' %s' $missing), or run make test as root on Debian." >&2
