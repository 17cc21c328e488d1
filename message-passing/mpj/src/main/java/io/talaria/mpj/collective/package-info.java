// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Collective operations: at least two algorithms each, over sends and receives of parts of buffers.
 * Which one runs depends only on what all ranks know: see {@link io.talaria.mpj.collective.Choice}.
 */
package io.talaria.mpj.collective;
