// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of UCX from Java on the real library. */
package io.talaria.ucx;
