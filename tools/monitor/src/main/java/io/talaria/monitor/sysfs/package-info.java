// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Reads {@code /sys}, where any file may be missing, empty, odd, or gone the next moment. */
package io.talaria.monitor.sysfs;
