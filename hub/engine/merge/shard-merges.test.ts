import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fs, { fstatSync, globSync, type NoParamCallback, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";
import {
  apply,
  contents,
  DELETE,
  INDEX,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";
import { MergeTask } from "./shard-merges.ts";

test("a merge for which the kernel's memory is too small is done without it", (t) =>
  withFolder(async (folder) => {
    const shard = openShard(folder);
    for (let sequence = 1; sequence <= 3; sequence++) {
      apply(shard, sequence, operation(INDEX, `${sequence}`, { n: sequence }));
      shard.refresh();
    }
    const full = t.mock.method(MergeTask.prototype, "step", () => {
      full.mock.restore();
      throw new AppError("memory_limit", "full");
    });
    await shard.forceMerge(1);
    assert.equal(shard.stats().segments, 1);
    const searcher = shard.searcher();
    assert.deepEqual([...contents(searcher).keys()].sort(), ["1", "2", "3"]);
    searcher.close();
    shard.close();
  }));

test("a forced merge removes deleted documents of segments that are few enough already", () =>
  withFolder(async (folder) => {
    const shard = openShard(folder);
    for (let sequence = 1; sequence <= 2; sequence++) {
      apply(shard, sequence, ...[1, 2].map((n) => operation(INDEX, `${sequence}-${n}`, { n })));
      shard.refresh();
    }
    apply(shard, 3, operation(DELETE, "1-1"), operation(DELETE, "2-1"), operation(DELETE, "2-2"));
    await shard.forceMerge(2);
    const { segments, docs, deleted } = shard.stats();
    assert.deepEqual({ segments, docs, deleted }, { segments: 1, docs: 1, deleted: 0 });
    apply(shard, 4, operation(DELETE, "1-2"));
    await shard.forceMerge(1);
    assert.equal(shard.stats().segments, 0);
    shard.close();
  }));

test("a large merge makes what it has written durable while it continues", (t) =>
  withFolder(async (folder) => {
    const shard = openShard(folder);
    for (let sequence = 1; sequence <= 4; sequence++) {
      const hidden = (): string => randomBytes(6_000).toString("base64");
      apply(
        shard,
        sequence,
        ...Array.from({ length: 400 }, (_, n) => operation(INDEX, `${sequence}-${n}`, { hidden: hidden() })),
      );
      shard.commit();
    }
    const sizes: number[] = [];
    const { fsync } = fs;
    const mock = t.mock.method(fs, "fsync", (fd: number, done: NoParamCallback) => {
      sizes.push(fstatSync(fd).size);
      fsync(fd, done);
    });
    syncBuiltinESMExports();
    t.after(() => {
      mock.mock.restore();
      syncBuiltinESMExports();
    });
    await shard.forceMerge(1);
    assert.equal(shard.stats().segments, 1);
    assert.ok(sizes.length > 0 && sizes.every((size) => size >= 4 * MIB), sizes.join());
    shard.close();
  }));

test("fresh segments of an idle shard get their last form, once unless many follow", (t) =>
  withFolder((folder) => {
    t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    let shard = openShard(folder);
    let sequence = 0;
    const write = (segments: number): void => {
      for (let segment = 0; segment < segments; segment++) {
        apply(shard, ++sequence, ...logDocuments(sequence, 2_000));
        shard.refresh();
      }
      shard.commit();
    };
    const rest = (): number[] => {
      t.mock.timers.tick(60_000);
      while (shard.mergeStep());
      shard.trim();
      return globSync("*.seg", { cwd: folder }).map((name) => statSync(join(folder, name)).size);
    };
    write(5);
    assert.equal(shard.mergeStep(), false);
    // As a shard that was stopped meanwhile.
    shard.close();
    shard = openShard(folder);
    const arrived = shard.stats();
    assert.equal(arrived.segments, 5);
    const [merged = 0, ...others] = rest();
    assert.deepEqual(others, []);
    assert.ok(merged < 0.8 * arrived.bytes, `${merged} of ${arrived.bytes} bytes`);
    write(1);
    assert.equal(rest().length, 2);
    assert.equal(shard.mergeStep(), false);
    write(6);
    assert.equal(rest().length, 1);
    assert.equal(contents(shard.searcher()).size, 12 * 2_000);
    shard.close();
  }));

/** Documents of one message of a log. */
function logDocuments(message: number, count: number) {
  return Array.from({ length: count }, (_, at) => {
    const n = message * count + at;
    const source = {
      message: `10.0.${n % 251}.${n % 241} - - "GET /shop/items/${(n * 7919) % 9973} HTTP/1.1" 200 ${n % 8191}`,
      n,
      t: new Date(1_700_000_000_000 + 37 * n).toISOString(),
      k: `host-${n % 20}`,
    };
    return operation(INDEX, `${n}`, source);
  });
}
