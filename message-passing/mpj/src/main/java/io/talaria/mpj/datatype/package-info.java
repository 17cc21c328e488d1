// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Base types, layouts of derived types, and payloads over the program's buffers. */
package io.talaria.mpj.datatype;
