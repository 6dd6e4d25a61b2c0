#!/usr/bin/env bash
# Puts Helix into DIR as DIR/hx, with the C library that it wants: Debian has it from release 13 (trixie) on, and its
# packages run in a folder of their own on an older one. Usage: install.sh DIR. Needs apt-get; changes nothing outside DIR.
set -euo pipefail
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
if [ -x "$dir/hx" ]; then exit 0; fi
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/packages"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
archive="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)"
echo "deb [signed-by=$keys] $archive trixie main" > "$dir/sources"
options=(-qq -o "Dir::Etc::SourceList=$dir/sources" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/lists"
  -o Dir::State::status=/dev/null -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
(cd "$dir/packages" && apt-get "${options[@]}" download hx libc6 libgcc-s1)
for package in "$dir"/packages/*.deb; do dpkg -x "$package" "$dir/unpacked"; done
libraries="$(dirname "$(find "$dir/unpacked/usr/lib" -name 'libc.so.6')")"
loader="$(find "$dir/unpacked/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)"
cat > "$dir/hx.new" <<END
#!/bin/sh
export HELIX_RUNTIME="$dir/unpacked/usr/lib/hx/runtime"
exec "$loader" --library-path "$libraries" "$dir/unpacked/usr/lib/hx/hx" "\$@"
END
chmod +x "$dir/hx.new"
"$dir/hx.new" --version
mv "$dir/hx.new" "$dir/hx"
