// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The counters file between the process that writes it and those that read it: layout, names,
 * header, sums, and whether the process lives.
 */
package io.talaria.nio.counters.file;
