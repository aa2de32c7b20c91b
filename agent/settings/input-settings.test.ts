import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { INPUTS } from "#agent/inputs/all.ts";
import { checkInputs } from "./input-settings.ts";

/** Inputs by the ids that the release before made for them. */
const KNOWN = JSON.parse(
  readFileSync(new URL(import.meta.resolve("#test/compat/input-ids.json")), "utf8"),
) as Record<string, { readonly type: string }>;

test("inputs without ids have the same ones as in earlier versions", () => {
  const inputs = Object.values(KNOWN);
  const made = checkInputs(inputs, (path) => path.join(".")).map(({ id }) => id);
  assert.deepEqual(made, Object.keys(KNOWN));
  assert.deepEqual(new Set(inputs.map(({ type }) => type)), new Set(INPUTS.map(({ type }) => type)));
});
