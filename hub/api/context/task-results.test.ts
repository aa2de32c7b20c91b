import assert from "node:assert/strict";
import { test } from "node:test";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { IndexDefinition, IndexInfo } from "#hub/api/ports/indices.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { TaskResults, type TaskResultsOptions } from "./task-results.ts";

const DAY_MS = 24 * 3_600_000;

/** Results over an index in memory that keeps documents in the order of their tasks. */
class Fixture {
  readonly stored = new Map<string, Uint8Array>();
  nowMs = 100 * DAY_MS;
  made = 0;
  settings: IndexDefinition["settings"] = {};
  fault: AppError | undefined;
  readonly results: TaskResults;

  constructor() {
    const documents = {
      write: async (items: readonly WriteItem[]) => {
        if (this.fault !== undefined) throw this.fault;
        for (const item of items) {
          if (item.kind === "delete") this.stored.delete(item.id);
          else if (item.kind === "index") this.stored.set(item.id!, item.source);
        }
        return [];
      },
      get: async (_index: string, id: string) => {
        const source = this.stored.get(id);
        return source === undefined ? null : { source };
      },
    };
    const indices = {
      get: () => (this.made > 0 ? ({ uuid: "u" } as IndexInfo) : undefined),
      createExact: async (_name: string, { settings }: IndexDefinition) => {
        this.made++;
        this.settings = settings;
      },
    };
    const shards = {
      openDocuments: async () => ({
        total: this.stored.size,
        documents: Array.from(this.stored, ([id, source]) => ({ id, source })).slice(0, 1000),
      }),
      closeContexts: () => {},
    };
    const clock = { ...systemClock, now: () => this.nowMs, monotonic: () => this.nowMs };
    this.results = new TaskResults({
      documents,
      indices,
      shards,
      clock,
      log: silentLogger(),
    } as unknown as TaskResultsOptions);
  }

  store(id: string): Promise<void> {
    const task = { start_time_in_millis: this.nowMs };
    return this.results.store(id, { owner: "user ada", task, response: { total: 1 } });
  }
}

test("a result is found by its task's id, and the index is made with the first", async () => {
  const fixture = new Fixture();
  assert.equal(await fixture.results.get("n:1"), undefined);
  assert.equal(fixture.made, 0);
  await fixture.store("n:1");
  assert.equal(fixture.made, 1);
  assert.equal(fixture.settings["auto_expand_replicas"], "0-1");
  assert.deepEqual(await fixture.results.get("n:1"), {
    completed: true,
    owner: "user ada",
    task: { start_time_in_millis: fixture.nowMs },
    response: { total: 1 },
  });
  assert.equal(await fixture.results.get("n:2"), undefined);
});

test("results older than a week are deleted", async () => {
  const fixture = new Fixture();
  await fixture.store("n:1");
  fixture.nowMs += 6 * DAY_MS;
  await fixture.store("n:2");
  fixture.nowMs += 2 * DAY_MS;
  await fixture.store("n:3");
  assert.deepEqual([...fixture.stored.keys()], ["n:2", "n:3"]);
});

test("of more than ten thousand results the oldest are deleted", async () => {
  const fixture = new Fixture();
  await fixture.store("n:0");
  const [source] = fixture.stored.values();
  for (let at = 1; at < 10_050; at++) fixture.stored.set(`n:${at}`, source!);
  for (let at = 10_050; at < 10_200; at++) {
    if (at === 10_150) fixture.nowMs += 3_600_000;
    await fixture.store(`n:${at}`);
  }
  assert.ok(fixture.stored.size < 10_100, `${fixture.stored.size} are kept`);
  assert.ok(!fixture.stored.has("n:0"));
  assert.ok(fixture.stored.has("n:10199"));
});

test("a result that can't be stored fails no task", async () => {
  const fixture = new Fixture();
  fixture.fault = new AppError("unavailable", "no shard");
  await fixture.store("n:1");
  assert.equal(fixture.stored.size, 0);
});
