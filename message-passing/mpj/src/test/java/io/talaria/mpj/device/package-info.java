// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what devices have in common. */
package io.talaria.mpj.device;
