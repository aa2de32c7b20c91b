/** Operations that clients of 6.5 know and that aren't offered: each says why, and what to use. */

import { NOT_OFFERED } from "#hub/api/compat/compatibility.ts";
import type { Method } from "#hub/api/http/request.ts";
import type { Route } from "#hub/api/http/route.ts";
import { AppError } from "#proto/kit/errors.ts";

const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

export function notOfferedRoutes(): Route[] {
  return NOT_OFFERED.map(({ paths, what, instead }) => ({
    methods: METHODS,
    paths,
    params: [],
    // Whatever a client sends, the answer is the same.
    takesAnyParams: true,
    action: "monitor",
    body: "any",
    summary: `Not offered: ${what}; ${instead}.`,
    handle() {
      throw new AppError("not_offered", `${what}: not offered; ${instead}`);
    },
  }));
}
