#!/usr/bin/env bash
# Puts Intel's compiler of 2026 into DIR as DIR/ocloc, with the C library that it wants: Debian has it in release forky, and
# its packages run in a folder of their own on an older one. Usage: install.sh DIR. Needs apt-get; changes nothing outside DIR.
set -euo pipefail
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
if [ -x "$dir/ocloc" ]; then exit 0; fi
source "$(dirname "${BASH_SOURCE[0]}")/../../support/unpack_debian.sh"
unpack_debian "$dir" forky libigc2 libigdfcl2 libigc2-tools intel-ocloc libigdgmm12 libze1 \
  libc6 libgcc-s1 libstdc++6 zlib1g
program="$(find "$dir/unpacked/usr/bin" -name 'ocloc-*' | sort -V | tail -n 1)"
cat > "$dir/ocloc.new" <<END
#!/bin/sh
exec "$loader" --library-path "$libraries" "$program" "\$@"
END
chmod +x "$dir/ocloc.new"
"$dir/ocloc.new" --version
mv "$dir/ocloc.new" "$dir/ocloc"
