#!/bin/sh
# Installs belljar from a release: `curl -fsSL …/install.sh | sh`; for another version, `sh -s --
# --version 0.1.0`. It downloads the archive for this platform, checks its SHA-256, and writes the
# program to ~/.local/bin, or to the folder of --to. It changes nothing else, and needs no root
# rights.
set -eu

releases=${BELLJAR_RELEASES:-https://github.com/belljar/belljar/releases/download}
version=@VERSION@
to=${HOME:?}/.local/bin

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Everything is in a function, so that an incomplete download of this script runs nothing.
main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version) version=${2:?--version needs a version, such as 0.1.0} && shift 2 ;;
      --to) to=${2:?--to needs a folder} && shift 2 ;;
      *) fail "unknown option $1: the options are --version VERSION and --to FOLDER" ;;
    esac
  done
  name=belljar-$version-$(target).tar.xz
  needs='curl tar'
  # The tar of macOS can read xz itself.
  [ "$(uname -s)" != Linux ] || needs="$needs xz"
  for needed in $needs; do
    command -v "$needed" >/dev/null || fail "$needed is needed, but not installed: install it and try again"
  done

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  curl --fail --silent --show-error --location --output "$work/$name" "$releases/v$version/$name" ||
    fail "cannot download $name from $releases/v$version: check the version and the network"
  curl --fail --silent --show-error --location --output "$work/SHA256SUMS" "$releases/v$version/SHA256SUMS" ||
    fail "cannot download SHA256SUMS from $releases/v$version: check the version and the network"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS has no entry for $name: nothing was installed"
  [ "$(sha256 "$work/$name")" = "$expected" ] || fail "the SHA-256 of $name differs from the one in SHA256SUMS: nothing was installed"

  tar -xJf "$work/$name" -C "$work"
  mkdir -p "$to"
  # Copied beside its place and then moved, since a running program cannot be overwritten.
  cp "$work/${name%.tar.xz}/belljar" "$to/.belljar.new"
  mv "$to/.belljar.new" "$to/belljar"
  printf 'installed belljar %s in %s\n' "$version" "$to"
  case :$PATH: in
    *:"$to":*) ;;
    *) printf 'add it to PATH: export PATH="%s:$PATH"\n' "$to" ;;
  esac
}

target() {
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no belljar program for the processor $(uname -m): build it from source" ;;
  esac
  case $(uname -s) in
    Darwin) printf '%s-apple-darwin' "$machine" ;;
    Linux)
      # The program for glibc needs 2.28; the one for musl is static and runs everywhere.
      libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
      if [ "${libc:-0}" -ge 28 ]; then printf '%s-unknown-linux-gnu' "$machine"; else printf '%s-unknown-linux-musl' "$machine"; fi
      ;;
    *) fail "this script does not install on $(uname -s): on Windows, use npm, pip or the zip file of the release" ;;
  esac
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

main "$@"
