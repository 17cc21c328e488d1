// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The launcher {@code talaria mpirun}: starts ranks, watches them, and ends a job cleanly. */
package io.talaria.mpj.launch;
