// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests across modules: real applications in several JVMs. */
package io.talaria.it;
