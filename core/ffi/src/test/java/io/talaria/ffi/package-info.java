// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what native bindings share. */
package io.talaria.ffi;
