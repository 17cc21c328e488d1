// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Measures which protocols and algorithms are the fastest, and prints the properties for them. */
package io.talaria.mpj.tune;
