#!/bin/sh
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Makes what the guest boots from in a folder that must not exist yet: vmlinuz, base.cpio (busybox and
# the kernel's modules) and version. The kernel's package is downloaded and unpacked, never installed.
# Usage: prepare.sh FOLDER

set -eu

# What the guest loads, in this order, each with what it depends on.
readonly MODULES='virtio_pci 9pnet_virtio 9p overlay virtio_rng
  crc32_generic crc32c_generic ib_uverbs ib_umad rdma_cm rdma_ucm dummy rdma_rxe'

fail() {
  printf 'talaria: %s\n' "$*" >&2
  exit 1
}

# The package behind the meta package of Debian's standard kernel; the cloud flavour has no rdma_rxe.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

download() {
  package=$(kernel_package)
  [ -n "$package" ] || fail "apt knows no package linux-image-amd64; run: apt-get update"
  # As the caller: the user that apt would change to may not write here.
  (cd "$work" && apt-get download -q -o APT::Sandbox::User=root "$package") >"$work/log" 2>&1 ||
    fail "cannot download $package: $(tail -n 1 "$work/log")"
}

unpack() {
  dpkg -x "$work"/linux-image-*.deb "$work/kernel"
  # Since Debian 13 the modules are below /usr.
  modules=$(find "$work/kernel" -type d -path '*/lib/modules/*' -prune | head -n 1)
  [ -n "$modules" ] || fail "no modules in $package"
  release=${modules##*/}
  base=${modules%/lib/modules/*}
  PATH=$PATH:/usr/sbin:/sbin depmod -b "$base" "$release"
  cp "$work/kernel/boot/vmlinuz-$release" "$work/new/vmlinuz"
  printf '%s\n' "$release" >"$work/new/version"
}

# Lines "FILE PARAMETERS" in the order of loading; the files go beside it, uncompressed.
collect() {
  mkdir -p "$work/ram/modules" "$work/ram/bin"
  for module in $MODULES; do
    PATH=$PATH:/usr/sbin:/sbin modprobe -d "$base" -C /dev/null -S "$release" --show-depends "$module" ||
      fail "the kernel $release has no module $module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/files"
  grep -q '/rdma_rxe\.' "$work/files" || fail "the kernel $release has no module rdma_rxe"
  while read -r file; do
    name=$(basename "$file")
    name=${name%%.ko*}.ko
    case $file in
      *.xz) xz -dc "$file" >"$work/ram/modules/$name" ;;
      *.zst) zstd -qdc "$file" >"$work/ram/modules/$name" ;;
      *) cp "$file" "$work/ram/modules/$name" ;;
    esac
    # The device is made by name; the module would make one of its own.
    [ "$name" != dummy.ko ] || name="$name numdummies=0"
    printf '%s\n' "$name"
  done <"$work/files" >"$work/ram/modules/order"
  cp /bin/busybox "$work/ram/bin/busybox"
  (cd "$work/ram" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$work/new/base.cpio"
}

target=$1
mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/new"
download
unpack
collect
# Another run may have been faster; both made the same.
mv -T "$work/new" "$target" 2>/dev/null || [ -f "$target/version" ]
