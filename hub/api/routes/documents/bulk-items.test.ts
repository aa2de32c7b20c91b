import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { WriteOptions } from "#hub/cluster/writes/writes.ts";
import { refusedPairs } from "./bulk-items.ts";
import { type BulkDefaults, parseBulk } from "./bulk-parser.ts";

const DEFAULTS: BulkDefaults = {
  index: "plain",
  type: undefined,
  routing: undefined,
  pipeline: undefined,
  requiresAlias: true,
  source: undefined,
  findScript: () => undefined,
};

/** An index that isn't an alias, whose new documents pass a pipeline. */
const parts = {
  indices: { all: () => [{ name: "plain", aliases: {} }], settingsFor: () => ({ default_pipeline: "p" }) },
} as unknown as ApiContext;

const NEW = '{"index":{}}\n{"n":1}\n';
const UPDATE = '{"update":{"_id":"1"}}\n{"doc":{"n":1}}\n';

for (const body of [NEW + UPDATE, UPDATE + NEW])
  test(`an update needs its alias, and a document only that which its pipeline chooses: ${body.slice(0, 8)}`, async () => {
    const items = [...parseBulk(Buffer.from(body), DEFAULTS)];
    const refused = await refusedPairs(parts, items, {} as WriteOptions);
    const [key = "", ...others] = refused.keys();
    assert.match(key, /update/);
    assert.deepEqual(others, []);
  });
