// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of {@code shmdev}. */
package io.talaria.mpj.device.ring;
