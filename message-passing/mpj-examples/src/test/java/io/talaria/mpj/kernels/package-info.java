// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the kernels, as processes. */
package io.talaria.mpj.kernels;
