import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { IndexDefinition, IndexInfo } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { recordOf } from "#test/support/api/memory-blobs.ts";
import { planRestore } from "./restore-plan.ts";

const { indices: stored, ...rest } = recordOf("s", "u", []);
const RECORD = { ...rest, indices: [stored[0]!, { ...stored[0]!, name: "b" }] };

function there(state: "open" | "close", shards = 1, dataStream?: string): IndexInfo {
  const settings = { numberOfShards: shards, numberOfReplicas: 0, creationDate: 0, raw: {} };
  return { name: "a", uuid: "old", state, settings, dataStream } as unknown as IndexInfo;
}

function plan(existing: IndexInfo | undefined, body: JsonObject = {}) {
  return planRestore(
    {
      get: (name) => (name === "a" ? existing : undefined),
      checkExact(name: string, { settings }: IndexDefinition) {
        if ("bad" in settings) throw new AppError("settings_invalid", `bad in ${name}`);
      },
    },
    RECORD,
    body,
  );
}

suite("plan of a restore", () => {
  test("an index takes the place of a closed one of its name, after those that replace none", () => {
    const plans = plan(there("close"));
    assert.deepEqual(
      plans.map(({ name, replaced }) => [name, replaced?.uuid]),
      [
        ["b", undefined],
        ["a", "old"],
      ],
    );
  });

  for (const [what, existing, message] of [
    ["an open index", there("open"), /cannot restore index \[a\] because an open index with same name/],
    ["a closed index of a data stream", there("close", 1, "stream"), /Either close or delete/],
    [
      "a closed index of other shards",
      there("close", 3),
      /cannot restore index \[a\] with \[3\] shards from a snapshot of index \[a\] with \[1\] shards/,
    ],
  ] as const)
    test(`${what} isn't replaced`, () => {
      assert.throws(() => plan(existing), { code: "request_invalid", message });
    });

  test("a closed index stays if the definition of its successor is refused", () => {
    assert.throws(() => plan(there("close"), { index_settings: { "index.bad": 1 } }), {
      code: "settings_invalid",
    });
  });

  test("two indices of one new name are refused", () => {
    const body = { rename_pattern: ".", rename_replacement: "x" };
    assert.throws(() => plan(undefined, body), { message: /two indices would be called \[x\]/ });
  });
});
