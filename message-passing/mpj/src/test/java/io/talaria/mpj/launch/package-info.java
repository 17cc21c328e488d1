// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the launcher with real processes. */
package io.talaria.mpj.launch;
