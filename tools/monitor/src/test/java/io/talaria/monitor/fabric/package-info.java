// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The fabric, against Debian's simulator {@code ibsim}. */
package io.talaria.monitor.fabric;
