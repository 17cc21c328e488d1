// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the binding against the installed headers. */
package io.talaria.ucx.binding;
