import assert from "node:assert/strict";
import { test } from "node:test";
import type { Indices } from "#hub/api/ports.ts";
import { actionsOf, type Principal, type Role } from "#hub/auth/principal.ts";
import { GuardedIndices } from "./index-guard.ts";
import { reaches } from "./index-reach.ts";

function principal(role: Role, indices: readonly string[]): Principal {
  return { kind: "user", id: "1", name: "ada", role, actions: actionsOf(role), indices };
}

test("the hub's own indices are for administrators, whatever the patterns say", () => {
  for (const [role, expected] of [
    ["admin", true],
    ["editor", false],
    ["viewer", false],
    ["ingest", false],
  ] as const) {
    assert.equal(reaches(principal(role, ["*"]), ".tailrace-audit-2026.11"), expected, role);
    assert.ok(reaches(principal(role, ["*"]), "logs-1"), role);
    assert.ok(!reaches(principal(role, ["public-*"]), "logs-1"), role);
  }
});

test("an editor can't give an index a name, or a template a pattern, beyond its own patterns", async () => {
  const done: string[] = [];
  const inner = {
    resolve: () => [],
    templates: () => ({ taken: { index_patterns: ["logs-*"] } }),
    updateAliases: async () => void done.push("aliases"),
    putTemplate: async () => void done.push("template"),
  } as unknown as Indices;
  const guarded = new GuardedIndices(inner, () => principal("editor", ["own-*"]));
  const refused = { code: "forbidden" };
  const add = (index: string, alias: string) =>
    guarded.updateAliases([{ kind: "add", index, alias, info: {} }]);
  const put = (name: string, pattern: string) =>
    guarded.putTemplate(name, {
      index_patterns: [pattern],
      order: 0,
      settings: {},
      mappings: {},
      aliases: {},
    });
  await assert.rejects(add("own-1", "logs"), refused);
  await assert.rejects(add("logs-1", "own-alias"), refused);
  await assert.rejects(put("new", "*"), refused);
  await assert.rejects(put("taken", "own-*"), refused, "a template of others isn't replaced");
  assert.deepEqual(done, []);
  await add("own-1", "own-alias");
  await put("new", "own-*");
  assert.deepEqual(done, ["aliases", "template"]);
});
