import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import { COPIES_KEY, encodeCopies, encodeHeld, HELD_PREFIX } from "./copy-table.ts";
import { CopyView } from "./copy-view.ts";

/** A view of hubs that are live; `held`: the numbers of index u that each has published. */
function viewOf(holders: readonly string[], held: Readonly<Record<string, readonly number[]>>): CopyView {
  const values = new Map([[COPIES_KEY, encodeCopies({ epoch: 1, copies: { u: [holders] } })]]);
  for (const [hub, numbers] of Object.entries(held))
    values.set(HELD_PREFIX + hub, encodeHeld({ session: "s", shards: { u: numbers } }));
  const shared = (key: string) => {
    const value = values.get(key);
    return value === undefined ? undefined : { value, revision: 1 };
  };
  const get = () => ({ record: { state: "live", session: "s" } });
  return new CopyView({ shared, get } as unknown as MemberDirectory);
}

const HUBS = [{ id: "a" }, { id: "b" }];

test("a shard is read where hubs say that they have it, whatever the table says", () => {
  assert.deepEqual(viewOf(["b"], { a: [0], b: [] }).readers(HUBS, "u", 0), [{ id: "a" }]);
});

test("a shard that nobody says to have is looked for where it should be, at live hubs alone", () => {
  const view = viewOf(["b"], { a: [], b: [] });
  assert.deepEqual(view.readers(HUBS, "u", 0), [{ id: "b" }]);
  assert.deepEqual(view.readers([{ id: "a" }], "u", 0), []);
  assert.deepEqual(view.readers(HUBS, "unknown", 0), []);
});
