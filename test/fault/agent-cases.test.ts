import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Cases, place } from "./agent-case.ts";
import { AGENT_CASES } from "./agent-case-table.ts";
import { FAILURE_CASES } from "./agent-cases-failure.ts";
import { LINE_CASES } from "./agent-cases-lines.ts";
import { MACHINE_CASES } from "./agent-cases-machine.ts";
import { OPERATION_CASES } from "./agent-cases-operation.ts";
import { REGISTRY_CASES } from "./agent-cases-registry.ts";
import { RESOURCE_CASES } from "./agent-cases-resources.ts";
import { ROTATION_CASES } from "./agent-cases-rotation.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HERE: Cases = {
  ...OPERATION_CASES,
  ...FAILURE_CASES,
  ...ROTATION_CASES,
  ...LINE_CASES,
  ...REGISTRY_CASES,
  ...RESOURCE_CASES,
  ...MACHINE_CASES,
};

for (const [number, name, proof] of AGENT_CASES) {
  const run = HERE[number];
  if (run !== undefined) {
    test(`${number} ${name}`, { timeout: 150_000 }, async (t) => run(await place(t), t));
  } else if (proof === "here") {
    test(`${number} ${name}`, () => assert.fail("there is no such case"));
  } else if ("reason" in proof) {
    test(`${number} ${name}`, { skip: proof.reason }, () => undefined);
  } else {
    test(`${number} ${name}: ${proof.file} has the test "${proof.test}"`, () => {
      const source = readFileSync(`${ROOT}${proof.file}`, "utf8").replaceAll(/\s+/g, " ");
      const found = testTitled(proof.test).exec(source);
      assert.ok(found !== null, `${proof.file} has no test "${proof.test}"`);
      assert.doesNotMatch(found.groups!["options"] ?? "", /\b(?:skip|todo)\b/, `${proof.file} skips it`);
    });
  }
}

/** Matches a test whose title holds `text`, or the row of a table that tests are made of: no comment, no other text. */
function testTitled(text: string): RegExp {
  const title = `(["'\`])(?:(?!\\1).)*${RegExp.escape(text)}(?:(?!\\1).)*\\1`;
  return new RegExp(`(?:\\b(?:test|it)\\( ?|\\[ ?)${title}, ?(?<options>\\{[^}]*\\})?`);
}

test("each of the 101 cases stands in the table once", () => {
  assert.deepEqual(
    AGENT_CASES.map(([number]) => number),
    Array.from({ length: 101 }, (_, n) => n + 1),
  );
});
