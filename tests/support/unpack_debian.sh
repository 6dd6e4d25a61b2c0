# Sourced: unpack_debian DIR RELEASE PACKAGE... puts packages of another Debian release into DIR/unpacked, and sets `loader` and
# `libraries`, with which their programs run beside an older C library. Needs apt-get; changes nothing outside of DIR.
unpack_debian() {
  local dir="$1" release="$2"
  shift 2
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/packages"
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg archive package
  archive="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)"
  echo "deb [signed-by=$keys] $archive $release main" > "$dir/sources"
  local options=(-qq -o "Dir::Etc::SourceList=$dir/sources" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/lists"
    -o Dir::State::status=/dev/null -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$dir/packages" && apt-get "${options[@]}" download "$@")
  for package in "$dir"/packages/*.deb; do dpkg -x "$package" "$dir/unpacked"; done
  rm -r "$dir/lists" "$dir/cache" "$dir/packages"
  libraries="$(dirname "$(find "$dir/unpacked/usr/lib" -name 'libc.so.6')")"
  loader="$(find "$dir/unpacked/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)"
}
