import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputState } from "#hub/pipeline/plugins/input.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { SharedInputStates } from "./shared-inputs.ts";

function localState(entries: Readonly<Record<string, unknown>>): InputState {
  return {
    get: (key) => Promise.resolve(entries[key]),
    put: () => Promise.reject(new Error("not used")),
    delete: () => Promise.reject(new Error("not used")),
    async *entries() {
      yield* Object.entries(entries);
    },
  };
}

async function all(state: InputState): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const entry of state.entries()) found.push(entry);
  return found;
}

test("what one hub remembers of an input, the next one finds, each input for itself", async () => {
  const bucket = new MemoryBucket();
  const [one, two] = [1, 2].map(() => new SharedInputStates(bucket, () => localState({})));
  await one!.of("main", "jdbc").put("last value", { of: "id", value: 7 });
  await one!.of("main", "file").put("", 1);
  assert.deepEqual(await two!.of("main", "jdbc").get("last value"), { of: "id", value: 7 });
  assert.deepEqual(await all(two!.of("main", "file")), [["", 1]]);
  await two!.of("main", "jdbc").delete("last value");
  assert.equal(await one!.of("main", "jdbc").get("last value"), undefined);
});

test("what a hub remembered alone is taken over once", async () => {
  const bucket = new MemoryBucket();
  const first = new SharedInputStates(bucket, () => localState({ b: 2, a: 1 }));
  assert.deepEqual(await all(first.of("main", "file")), [
    ["a", 1],
    ["b", 2],
  ]);
  await first.of("main", "file").delete("a");
  const again = new SharedInputStates(bucket, () => localState({ b: 2, a: 1 }));
  assert.deepEqual(await all(again.of("main", "file")), [["b", 2]]);
});
