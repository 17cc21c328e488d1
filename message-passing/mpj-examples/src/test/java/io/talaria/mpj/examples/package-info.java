// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the examples, as processes. */
package io.talaria.mpj.examples;
