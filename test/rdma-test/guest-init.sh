#!/bin/busybox sh
# shellcheck shell=sh
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# The first process of the guest, run by busybox from the initial RAM disk: loads the modules, puts a
# writable layer in RAM over the host's read-only root, and hands over to guest.sh of the project.

/bin/busybox mkdir -p /proc /sys /dev /lower /upper /root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

# A file and its parameters a line, in the order of their dependencies.
while read -r file parameters; do
  # shellcheck disable=SC2086 # several parameters
  insmod "/modules/$file" $parameters || echo "talaria: cannot load $file"
done </modules/order

set -e
# Programs are mapped into memory, which 9p allows only with cache=loose.
mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,msize=512000,ro root /lower
mount -t tmpfs -o size=75% tmpfs /upper
mkdir /upper/data /upper/work /root/new
mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /root/new
cd /root/new
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t devtmpfs devtmpfs dev
mkdir -p dev/pts dev/shm
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t devpts devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/talaria-share
# The host reads along: nothing may stay in the guest's cache.
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=65536 share run/talaria-share
# shellcheck disable=SC1091 # written by run.sh: ROOT, JAVA_HOME, ONLY
. run/talaria-share/job
exec switch_root /root/new /bin/bash "$ROOT/test/rdma-test/guest.sh"
