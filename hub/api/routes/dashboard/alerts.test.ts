import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyLimitOf, rightsOf } from "#hub/api/http/route.ts";
import type { Alerts } from "#hub/api/ports/administration.ts";
import { MIB } from "#proto/kit/units.ts";
import { alertRoutes } from "./alerts.ts";

test("who saves or tries a rule needs the right to search, as the rule searches on its behalf", () => {
  const routes = alertRoutes({} as Alerts, { resolve: () => [] });
  const named = routes.map(
    (route) => `${route.methods.join()} ${route.paths.join()} ${rightsOf(route).join()}`,
  );
  assert.deepEqual(named, [
    "GET /api/alerts search",
    "POST /api/alerts alert,search",
    "POST /api/alerts/_preview alert,search",
    "POST /api/alerts/_test alert",
    "GET /api/alerts/{id} search",
    "PUT /api/alerts/{id} alert,search",
    "PATCH /api/alerts/{id} alert,search",
    "DELETE /api/alerts/{id} alert",
  ]);
  for (const route of routes.filter((each) => rightsOf(each).includes("alert")))
    assert.equal(bodyLimitOf(route), MIB, route.summary);
});
