#!/bin/sh
# Installs belljar from a release: `curl -fsSL …/install.sh | sh`, or with `sh -s -- --version
# 0.1.0`. It fetches the archive of this platform, checks its SHA-256, and writes the program to
# ~/.local/bin (--to DIR). It changes nothing else and needs no rights of its own.
set -eu

releases=${BELLJAR_RELEASES:-https://github.com/belljar/belljar/releases/download}
version=@VERSION@
to=${HOME:?}/.local/bin

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# All of it is in a function, so that a download that breaks off runs nothing.
main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version) version=${2:?--version takes a version} && shift 2 ;;
      --to) to=${2:?--to takes a folder} && shift 2 ;;
      *) fail "unknown option $1: there are --version VERSION and --to FOLDER" ;;
    esac
  done
  name=belljar-$version-$(target).tar.xz
  needs='curl tar'
  # The tar of macOS reads xz itself.
  [ "$(uname -s)" != Linux ] || needs="$needs xz"
  for needed in $needs; do
    command -v "$needed" >/dev/null || fail "$needed is needed, and missing"
  done

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  curl --fail --silent --show-error --location --output "$work/$name" "$releases/v$version/$name" ||
    fail "there is no $name at $releases/v$version"
  curl --fail --silent --show-error --location --output "$work/SHA256SUMS" "$releases/v$version/SHA256SUMS" ||
    fail "there are no SHA256SUMS at $releases/v$version"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS does not name $name"
  [ "$(sha256 "$work/$name")" = "$expected" ] || fail "$name has another SHA-256 than SHA256SUMS says: nothing was installed"

  tar -xJf "$work/$name" -C "$work"
  mkdir -p "$to"
  # Beside its place first: a program that runs may not be written to.
  cp "$work/${name%.tar.xz}/belljar" "$to/.belljar.new"
  mv "$to/.belljar.new" "$to/belljar"
  printf 'belljar %s is in %s\n' "$version" "$to"
  case :$PATH: in
    *:"$to":*) ;;
    *) printf 'add it to PATH: export PATH="%s:$PATH"\n' "$to" ;;
  esac
}

target() {
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no belljar for $(uname -m): build it from source" ;;
  esac
  case $(uname -s) in
    Darwin) printf '%s-apple-darwin' "$machine" ;;
    Linux)
      # The program for glibc needs 2.28; the one for musl is static and runs everywhere.
      libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
      if [ "${libc:-0}" -ge 28 ]; then printf '%s-unknown-linux-gnu' "$machine"; else printf '%s-unknown-linux-musl' "$machine"; fi
      ;;
    *) fail "there is no belljar for $(uname -s) here: on Windows use npm, pip or the zip file of the release" ;;
  esac
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

main "$@"
