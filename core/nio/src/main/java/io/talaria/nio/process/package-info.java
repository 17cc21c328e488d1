// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What identifies this host and its processes: /proc, the kernel's word about who is at the other
 * end of a Unix-domain socket, and whether descriptors have run out. Knows nothing else of Talaria.
 */
package io.talaria.nio.process;
