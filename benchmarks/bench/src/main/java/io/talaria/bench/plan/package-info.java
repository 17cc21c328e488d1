// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What is to be measured: the file that describes a run, checked and expanded into cases. Immutable
 * throughout.
 */
package io.talaria.bench.plan;
