#!/usr/bin/env bash
# Puts Intel's compiler of 2026 into DIR as DIR/ocloc, with the C library that it wants: Debian has it in release forky, and
# its packages run in a folder of their own on an older one. Usage: install.sh DIR. Needs apt-get; changes nothing outside DIR.
set -euo pipefail
mkdir -p "$1"
dir="$(cd "$1" && pwd)"
if [ -x "$dir/ocloc" ]; then exit 0; fi
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/packages"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
archive="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)"
echo "deb [signed-by=$keys] $archive forky main" > "$dir/sources"
options=(-qq -o "Dir::Etc::SourceList=$dir/sources" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/lists"
  -o Dir::State::status=/dev/null -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
(cd "$dir/packages" && apt-get "${options[@]}" download libigc2 libigdfcl2 libigc2-tools intel-ocloc libigdgmm12 libze1 \
  libc6 libgcc-s1 libstdc++6 zlib1g)
for package in "$dir"/packages/*.deb; do dpkg -x "$package" "$dir/unpacked"; done
rm -r "$dir/lists" "$dir/cache" "$dir/packages"
libraries="$(dirname "$(find "$dir/unpacked/usr/lib" -name 'libc.so.6')")"
loader="$(find "$dir/unpacked/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)"
program="$(find "$dir/unpacked/usr/bin" -name 'ocloc-*' | sort -V | tail -n 1)"
cat > "$dir/ocloc.new" <<END
#!/bin/sh
exec "$loader" --library-path "$libraries" "$program" "\$@"
END
chmod +x "$dir/ocloc.new"
"$dir/ocloc.new" --version
mv "$dir/ocloc.new" "$dir/ocloc"
