// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** UCX from Java. */
package io.talaria.ucx;
