// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of measuring for the right properties. */
package io.talaria.mpj.tune;
