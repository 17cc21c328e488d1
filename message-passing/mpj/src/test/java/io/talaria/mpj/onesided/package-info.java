// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of windows without ranks. */
package io.talaria.mpj.onesided;
