/** The page shows the rights that the hub gives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { mayReach } from "#hub/auth/accounts/index-rights.ts";
import { ACTIONS, actionsOf, ROLES } from "#hub/auth/accounts/principal.ts";
import { ROLE_RIGHTS, rightsOf } from "#ui/services/administration/role-rights.ts";

test("the page knows every role of the hub with all its actions", () => {
  assert.deepEqual(Object.keys(ROLE_RIGHTS).toSorted(), ROLES.toSorted());
  for (const role of ROLES)
    assert.deepEqual(ROLE_RIGHTS[role]!.toSorted(), [...actionsOf(role)].toSorted(), role);
  assert.equal(rightsOf("admin", ["*"]).length, ACTIONS.length);
});

test("who reaches only some indices doesn't administer", () => {
  for (const grants of [["logs-*"], ["*:read+write+manage+delete"]]) {
    assert.ok(!actionsOf("admin", grants).has("administer"), grants.join());
    assert.equal(rightsOf("admin", grants).at(-1)!.isAllowed, false);
  }
  assert.ok(actionsOf("admin", ["logs-*", "*"]).has("administer"));
  assert.equal(rightsOf("admin", ["logs-*", "*"]).at(-1)!.isAllowed, true);
});

test("a right on indices is shown with the patterns that the hub lets it reach", () => {
  const grants = ["logs-*", "audit-*:read", "metrics-*:write+read"];
  const [, read, write, manage] = rightsOf("editor", grants);
  assert.deepEqual(read!.patterns, ["logs-*", "audit-*", "metrics-*"]);
  assert.deepEqual(write!.patterns, ["logs-*", "metrics-*"]);
  assert.deepEqual(manage!.patterns, ["logs-*"]);
  assert.ok(mayReach(grants, "metrics-1", ["ingest"]) && !mayReach(grants, "audit-1", ["ingest"]));
  assert.ok(!mayReach(grants, "audit-1", ["index_manage"]));
  assert.ok(rightsOf("viewer", ["logs-*:write"]).every(({ patterns }) => patterns.length === 0));
});
