#!/bin/sh
# Browser tests need Chromium and its driver. Debian and Ubuntu get them from their packages; elsewhere Selenium finds
# an installed Chrome or downloads one.
set -eu
find_any() { for name in "$@"; do command -v "$name" >/dev/null 2>&1 && return 0; done; return 1; }
if find_any chromium chromium-browser google-chrome && find_any chromedriver; then exit 0; fi
if ! find_any apt-get; then
  echo "no Chromium and chromedriver found; the browser tests let Selenium look for a Chrome"
  exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if find_any sudo; then as_root="sudo"; else
    echo "install Chromium for the browser tests: apt-get install chromium chromium-driver fonts-noto-cjk"
    exit 0
  fi
fi
echo "installing Chromium for the browser tests"
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  chromium chromium-driver fonts-noto-cjk >/dev/null
