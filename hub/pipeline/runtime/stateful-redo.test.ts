import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { FoldingSink, MemoryRaw } from "#test/harness/pipeline-log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Pipeline } from "./pipeline.ts";

const READ = `grok { match => { "message" => "%{WORD:step} %{WORD:id} %{INT:n:int}" } tag_on_failure => [] }`;

const TASKS = `filter { ${READ}
  aggregate { task_id => "%{id}" code => "map['sum'] = (map['sum'] || 0) + event.get('n'); event.set('sum', map.sum)" }
  mutate { add_tag => "%{step}" }
  elapsed { start_tag => "begin" end_tag => "end" unique_id_field => "id" }
}`;

const THROTTLE = `filter { ${READ} throttle { key => "%{id}" after_count => 2 period => "60" add_tag => "throttled" } }`;

const IDS = ["a", "b", "c"];
const lines = (step: string, n: number): string[] => IDS.map((id) => `${step} ${id} ${n}`);

/** A pipeline over a log that outlives it, as cursors and shards do. */
class World {
  readonly raw = new MemoryRaw();
  readonly sink = new FoldingSink();
  cursors = new MemoryBucket();
  /** Script of the threads; the product's own without it. */
  workerScript: URL | undefined;
  readonly warnings: string[] = [];
  readonly #t: TestContext;
  readonly #text: string;
  #from = 0;

  constructor(t: TestContext, text: string) {
    this.#t = t;
    this.#text = text;
  }

  /** Lets a pipeline work until all that was logged so far is in the shard; its threads end with it. */
  async run(...added: string[]): Promise<void> {
    for (const line of added) {
      this.raw.append({ text: `${line}\n`, from: this.#from });
      this.#from += line.length + 1;
    }
    const pipeline = new Pipeline({
      settings: {
        id: "main",
        pipelines: [{ id: "main", files: [{ path: "p.conf", text: this.#text }] }],
        workers: 2,
        batchSize: 2,
        batchDelayMs: 1,
      },
      source: this.raw,
      sink: this.sink,
      deadLetters: this.sink.deadLetters,
      cursors: this.cursors,
      hub: "hub-1",
      log: Object.assign(silentLogger(), {
        warn: (given: { reason?: string }, message: string) =>
          void this.warnings.push(`${message}: ${given.reason}`),
      }),
      ...(this.workerScript !== undefined && { workerScript: this.workerScript }),
      metrics: new Metrics(),
    });
    this.#t.after(() => pipeline.stop());
    await pipeline.start();
    await this.sink.reached(this.raw.entries.length);
    await pipeline.stop();
  }

  /** What documents say beside what the log said. */
  made(): Record<string, unknown>[] {
    return this.sink.documents.map(({ source: { message, sum, elapsed_time, tags } }) => ({
      message,
      ...(sum !== undefined && { sum }),
      ...(elapsed_time !== undefined && { elapsed_time }),
      ...(tags !== undefined && { tags }),
    }));
  }
}

test("sums of aggregate and pairs of elapsed are those of a hub that never ended, wherever its cursor was", async (t) => {
  const before = [...lines("begin", 1), ...lines("middle", 2)];
  const whole = new World(t, TASKS);
  await whole.run(...before, ...lines("end", 3));
  assert.deepEqual(
    whole.made().map(({ sum }) => sum),
    [1, 3, 6].flatMap((sum) => IDS.map(() => sum)),
  );
  for (const isCursorLost of [false, true]) {
    const broken = new World(t, TASKS);
    await broken.run(...before);
    if (isCursorLost) broken.cursors = new MemoryBucket();
    await broken.run(...lines("end", 3));
    assert.deepEqual(broken.made(), whole.made());
  }
});

test("throttle restarts its counts after a hub's end, and every event arrives once", async (t) => {
  const world = new World(t, THROTTLE);
  await world.run("e a 1", "e a 2", "e a 3");
  await world.run("e a 4", "e a 5", "e a 6");
  assert.deepEqual(
    world.made().map(({ message, tags }) => [message, tags]),
    [1, 2, 3, 4, 5, 6].map((n) => [`e a ${n}`, n % 3 === 0 ? ["throttled"] : undefined]),
  );
});

test("a thread that hangs within a batch changes no sum, and its restart is logged", async (t) => {
  const rounds = Array.from({ length: 6 }, (_, n) =>
    lines(n === 0 ? "begin" : n === 5 ? "end" : "middle", n),
  ).flat();
  const whole = new World(t, TASKS);
  await whole.run(...rounds);
  const folder = mkdtempSync(join(tmpdir(), "tailrace-stall-"));
  process.env["TAILRACE_STALLED"] = join(folder, "stalled");
  t.after(() => {
    delete process.env["TAILRACE_STALLED"];
    rmSync(folder, { recursive: true });
  });
  const stalled = new World(t, TASKS);
  stalled.workerScript = new URL("../../../test/fixtures/stalling-pipeline-worker.ts", import.meta.url);
  await stalled.run(...rounds);
  assert.ok(existsSync(join(folder, "stalled")));
  assert.deepEqual(stalled.made(), whole.made());
  assert.match(stalled.warnings[0] ?? "", /a thread of the pipeline ended and is replaced: .*2000 ms/);
});
