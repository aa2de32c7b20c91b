import assert from "node:assert/strict";
import { test } from "node:test";
import { DocOperation } from "#proto/messages.ts";
import { nextVersion } from "./versioning.ts";

const { EXTERNAL, EXTERNAL_GTE } = DocOperation.VersionType;

/** Version type, version given, version there (undefined: no document was ever there), version after it or a conflict. */
const CASES: readonly (readonly [number, number, number | undefined, number | "conflict"])[] = [
  [EXTERNAL, 0, undefined, 0],
  [EXTERNAL, 5, undefined, 5],
  [EXTERNAL, 5, 4, 5],
  [EXTERNAL, 5, 5, "conflict"],
  [EXTERNAL_GTE, 5, 5, 5],
  [EXTERNAL_GTE, 4, 5, "conflict"],
];

for (const [versionType, version, there, expected] of CASES) {
  test(`version ${version} of type ${versionType} over ${there ?? "nothing"} gives ${expected}`, () => {
    const operation = { id: "a", hasVersion: true, version, versionType };
    const state = { version: there ?? 0, seqNo: 1, exists: there !== undefined };
    if (expected === "conflict") assert.throws(() => nextVersion(operation, state), /version conflict/);
    else assert.equal(nextVersion(operation, state), expected);
  });
}

test("version 0 doesn't come after a deletion that is remembered", () => {
  const operation = { id: "a", hasVersion: true, version: 0, versionType: EXTERNAL };
  assert.throws(() => nextVersion(operation, { version: 3, seqNo: 1, exists: false }), /version conflict/);
});
