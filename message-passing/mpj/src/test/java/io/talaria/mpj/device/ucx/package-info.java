// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What ranks send each other by UCX. */
package io.talaria.mpj.device.ucx;
