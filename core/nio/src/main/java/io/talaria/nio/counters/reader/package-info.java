// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Reads the counters files of other processes. Nothing else in this module uses it: it is for the
 * program that shows them.
 */
package io.talaria.nio.counters.reader;
