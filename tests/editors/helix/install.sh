#!/usr/bin/env bash
# Puts Helix into DIR as DIR/hx, with the C library that it wants: Debian has it from release 13 (trixie) on, and its
# packages run in a folder of their own on an older one. Usage: install.sh DIR. Needs apt-get; changes nothing outside DIR.
set -euo pipefail
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
if [ -x "$dir/hx" ]; then exit 0; fi
source "$(dirname "${BASH_SOURCE[0]}")/../../support/unpack_debian.sh"
unpack_debian "$dir" trixie hx libc6 libgcc-s1
cat > "$dir/hx.new" <<END
#!/bin/sh
export HELIX_RUNTIME="$dir/unpacked/usr/lib/hx/runtime"
exec "$loader" --library-path "$libraries" "$dir/unpacked/usr/lib/hx/hx" "\$@"
END
chmod +x "$dir/hx.new"
"$dir/hx.new" --version
mv "$dir/hx.new" "$dir/hx"
