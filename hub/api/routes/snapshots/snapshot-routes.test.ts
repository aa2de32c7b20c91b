import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { Tasks } from "#hub/api/context/tasks.ts";
import type { ApiRequest, Method } from "#hub/api/http/request.ts";
import type { IndexDefinition } from "#hub/api/ports/indices.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { MemoryBlobs, recordOf } from "#test/support/api/memory-blobs.ts";
import { IndexSnapshots } from "./index-snapshots.ts";
import { snapshotRoutes } from "./snapshot-routes.ts";

/** A hub without indices and a repository "r"; an index whose settings have `bad` can't be made. */
function world() {
  const blobs = new MemoryBlobs();
  const made = new Set<string>();
  const existing = new Map<string, unknown>();
  const repository = { type: "fs", settings: { location: "x" } };
  const parts = {
    tasks: new Tasks(systemClock),
    clock: systemClock,
    compatVersion: "6.5.4",
    repositories: { all: () => new Map([["r", repository]]), open: () => blobs },
    indices: {
      resolve: () => [],
      get: (name: string) => existing.get(name),
      templates: () => ({}),
      templateCatalog: { set: () => ({ templates: {}, components: {} }) },
      async createExact(name: string, definition: IndexDefinition) {
        this.checkReplace({ name }, definition);
        made.add(name);
        return { name };
      },
      checkReplace({ name }: { name: string }, { settings }: IndexDefinition) {
        if ("bad" in settings && name === "b") throw new AppError("settings_invalid", "bad");
      },
      async replaceExact(replaced: { name: string }, definition: IndexDefinition) {
        existing.delete(replaced.name);
        return this.createExact(replaced.name, definition);
      },
      async deleteExactly({ name }: { name: string }) {
        made.delete(name);
      },
    },
  } as unknown as ApiContext;
  const routes = snapshotRoutes(parts);
  const send = (method: Method, end: string, path: JsonObject, body: JsonObject = {}): Promise<unknown> => {
    const route = routes.find(
      ({ methods, paths }) => methods.includes(method) && paths.some((each) => each.endsWith(end)),
    );
    const request = {
      path: { repository: "r", ...path },
      segment: (name: string) => ({ repository: "r", ...path })[name],
      flag: () => undefined,
      metadata: () => body,
      requiredObject: () => body,
      headers: {},
      principal: ANONYMOUS,
    } as unknown as ApiRequest;
    return Promise.resolve(route!.handle(request));
  };
  return { store: new IndexSnapshots(blobs), blobs, parts, made, existing, send };
}

test("of two snapshots of one name that are asked for at once, the second is refused", async () => {
  const { send, store, parts } = world();
  const take = (): Promise<unknown> => send("PUT", "{snapshot}", { snapshot: "s" });
  const [first, second] = await Promise.allSettled([take(), take()]);
  assert.deepEqual([first.status, second.status], ["fulfilled", "rejected"]);
  await parts.tasks.stop();
  assert.deepEqual(await store.names(), ["s"]);
});

test("a snapshot that is being taken can't be cloned", async () => {
  const { send, store } = world();
  await store.write({ ...recordOf("s", "u", []), state: "IN_PROGRESS" });
  await assert.rejects(
    send("PUT", "{target_snapshot}", { snapshot: "s", target_snapshot: "t" }, { indices: "*" }),
    /can't be cloned: its state is IN_PROGRESS/,
  );
  assert.deepEqual(await store.names(), ["s"]);
});

test("settings that an index can't have refuse a whole restore, and nothing is made", async () => {
  const { send, store, made } = world();
  const { indices, ...record } = recordOf("s", "u", []);
  await store.write({ ...record, indices: [indices[0]!, { ...indices[0]!, name: "b" }] });
  await assert.rejects(send("POST", "/_restore", { snapshot: "s" }, { index_settings: { bad: 1 } }), {
    code: "settings_invalid",
  });
  assert.deepEqual([...made], []);
});

test("a closed index is replaced by one of a snapshot, one that is open or has other shards isn't", async () => {
  const { send, store, made, existing } = world();
  const { indices, ...record } = recordOf("s", "u", []);
  const [index] = indices;
  await store.write({ ...record, indices: [index!, { ...index!, name: "b" }] });
  const restore = (settings = {}): Promise<unknown> =>
    send("POST", "/_restore", { snapshot: "s" }, { index_settings: settings });
  const rows: [state: string, numberOfShards: number, reason: RegExp][] = [
    ["open", index!.shards, /because an open index with same name .* Either close or delete/],
    ["close", index!.shards + 1, /with \[\d+\] shards from a snapshot of index \[b\] with \[\d+\] shards/],
  ];
  for (const [state, numberOfShards, message] of rows) {
    existing.set("b", { name: "b", state, settings: { numberOfShards }, aliases: {} });
    await assert.rejects(restore(), { message });
    assert.deepEqual([[...made], existing.size], [[], 1]);
  }
  existing.set("b", { name: "b", state: "close", settings: { numberOfShards: index!.shards }, aliases: {} });
  await restore();
  assert.deepEqual([[...made].sort(), existing.size], [[index!.name, "b"].sort(), 0]);
});

test("of several closed indices none is replaced if the definition of one is refused", async () => {
  const { send, store, made, existing } = world();
  const { indices, ...record } = recordOf("s", "u", []);
  const [index] = indices;
  await store.write({ ...record, indices: [index!, { ...index!, name: "b" }] });
  for (const name of [index!.name, "b"])
    existing.set(name, { name, state: "close", settings: { numberOfShards: index!.shards }, aliases: {} });
  await assert.rejects(send("POST", "/_restore", { snapshot: "s" }, { index_settings: { bad: 1 } }), {
    code: "settings_invalid",
  });
  assert.deepEqual([[...made], existing.size], [[], 2]);
});
