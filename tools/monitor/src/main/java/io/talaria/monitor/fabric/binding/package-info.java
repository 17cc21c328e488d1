// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Each function of libibnetdisc, libibmad and libibumad that is called, as it is, and the layouts
 * of what they take and give. The only package here that names the linker.
 */
package io.talaria.monitor.fabric.binding;
