// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of this package. */
package io.talaria.mpj.device.verbs;
