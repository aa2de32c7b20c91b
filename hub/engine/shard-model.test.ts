import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { tailrace } from "#proto/messages.ts";
import type { Position } from "#proto/position.ts";
import { Random } from "#test/support/engine/random.ts";
import {
  contents,
  DELETE,
  INDEX,
  idsWith,
  openShard,
  operation,
  UPDATE,
  withFolder,
} from "#test/support/engine/shard.ts";
import type { Shard } from "./shard.ts";

/** Few for a quick check; more by hand: TAILRACE_SEEDS=100. */
const SEEDS = Number(process.env["TAILRACE_SEEDS"] ?? 2);

const WORDS = ["get", "post", "error", "timeout", "ok", "10.0.0.1", "größe", "user_id"];

/** A log of random messages: the document API's and the pipeline's, some of them sent twice. */
function makeLog(random: Random, count: number): tailrace.IDocBatch[] {
  const log: tailrace.IDocBatch[] = [];
  let offset = 0;
  let raw = 0;
  let life = 1;
  const sent: tailrace.IDocBatch[] = [];
  for (let index = 0; index < count; index++) {
    if (random.oneIn(3)) {
      if (sent.length > 0 && random.oneIn(3)) {
        // The same message again, or, after a loss of the log, the same lines in another one.
        const again = random.pick(sent);
        if (random.oneIn(2)) {
          log.push(again);
          continue;
        }
        life++;
        raw = random.below(raw);
        log.push({ ...again, rawIncarnation: life, rawSequence: ++raw });
        continue;
      }
      const operations: tailrace.IDocOperation[] = [];
      const from = offset;
      for (let ordinal = 0; ordinal < 1 + random.below(20); ordinal++) {
        operations.push(
          operation(INDEX, `log-${offset}`, document(random), {
            ordinal,
            sourceIndex: 1,
            offset,
            appendOnly: true,
          }),
        );
        offset += 1 + random.below(100);
      }
      const sources = [{ key: "file", from, to: offset }];
      const batch = {
        rawIncarnation: life,
        rawPartition: 0,
        rawSequence: ++raw,
        sources,
        operations,
        lenient: true,
      };
      sent.push(batch);
      log.push(batch);
      continue;
    }
    const operations = Array.from({ length: 1 + random.below(6) }, () => {
      const id = `doc-${random.below(60)}`;
      const kind = random.pick([INDEX, INDEX, UPDATE, DELETE]);
      return operation(kind, id, document(random), { docAsUpsert: kind === UPDATE });
    });
    log.push({ operations, timeMs: index * 1000 });
  }
  return log;
}

function document(random: Random): Record<string, unknown> {
  const words = Array.from({ length: random.below(8) }, () => random.pick(WORDS));
  return {
    message: words.join(" "),
    ...(random.oneIn(2) ? { n: random.below(1000), k: random.pick(WORDS) } : {}),
    ...(random.oneIn(4) ? { d: [random.below(100) / 10, random.below(5)], hidden: random.pick(WORDS) } : {}),
    ...(random.oneIn(9) ? { g: [random.below(180), random.below(90)], ip: `10.0.0.${random.below(9)}` } : {}),
  };
}

/** What the documents must be after the log: the plainest reading of it. */
function oracle(log: readonly tailrace.IDocBatch[]): Map<string, Record<string, unknown>> {
  const documents = new Map<string, Record<string, unknown>>();
  for (const { operations } of log) {
    for (const { kind, id, source, appendOnly } of operations!) {
      if (kind === DELETE) documents.delete(id!);
      else if (appendOnly !== true || !documents.has(id!)) {
        const value = JSON.parse(Buffer.from(source!).toString()) as Record<string, unknown>;
        documents.set(id!, kind === UPDATE ? { ...documents.get(id!), ...value } : value);
      }
    }
  }
  return documents;
}

function check(shard: Shard, expected: Map<string, Record<string, unknown>>): void {
  shard.refresh();
  const searcher = shard.searcher();
  assert.equal(searcher.totalDocs, expected.size);
  assert.equal(shard.stats().docs, expected.size);
  for (const word of WORDS) {
    const has = (value: unknown): boolean => typeof value === "string" && value.split(" ").includes(word);
    const ids = (test: (value: Record<string, unknown>) => boolean): string[] =>
      [...expected]
        .filter(([, value]) => test(value))
        .map(([id]) => id)
        .sort();
    assert.deepEqual(
      idsWith(searcher, "message", word),
      ids((value) => has(value["message"])),
    );
    assert.deepEqual(
      idsWith(searcher, "k", word),
      ids((value) => value["k"] === word),
    );
  }
  checkColumns(searcher, expected);
  const found = contents(searcher);
  assert.deepEqual(
    new Map([...found].map(([id, source]) => [id, JSON.parse(source) as unknown] as const)),
    expected,
  );
}

function checkColumns(
  searcher: ReturnType<Shard["searcher"]>,
  expected: Map<string, Record<string, unknown>>,
): void {
  const out: number[] = [];
  for (const segment of searcher.segments) {
    const [n, d, hidden] = [
      segment.numericColumn("n"),
      segment.numericColumn("d"),
      segment.keywordColumn("hidden"),
    ];
    for (let doc = 0; doc < segment.docCount; doc++) {
      if (!segment.isLive(doc)) continue;
      const value = expected.get(segment.id(doc))!;
      assert.deepEqual(
        n === null ? [] : out.slice(0, n.read(doc, out)),
        value["n"] === undefined ? [] : [value["n"]],
      );
      const doubles = ((value["d"] as number[] | undefined) ?? []).toSorted((a, b) => a - b);
      assert.deepEqual(d === null ? [] : out.slice(0, d.read(doc, out)), doubles);
      const ordinal = hidden?.first(doc) ?? -1;
      assert.equal(ordinal < 0 ? undefined : hidden!.text(ordinal), value["hidden"]);
    }
  }
}

suite("a shard against a plain map", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    test(`agrees after random operations, refreshes, commits, merges and kills (seed ${seed})`, () =>
      withFolder(async (folder) => {
        const random = new Random(seed);
        const log = makeLog(random, 150);
        const bufferDocs = random.pick([7, 40, 100_000]);
        let shard = openShard(folder, undefined, bufferDocs);
        let next = 0;
        while (next < log.length) {
          const position: Position = { incarnation: 1, sequence: next + 1 };
          shard.apply(log[next]!, position);
          next++;
          if (random.oneIn(4)) shard.refresh();
          if (random.oneIn(8)) shard.commit();
          if (random.oneIn(3)) shard.mergeStep();
          if (random.oneIn(30)) await shard.forceMerge(1 + random.below(3));
          if (random.oneIn(25)) check(shard, oracle(log.slice(0, next)));
          if (random.oneIn(20)) {
            // A kill: what wasn't committed is gone and read again.
            shard.close();
            shard = openShard(folder, undefined, bufferDocs);
            next = shard.position.sequence;
          }
        }
        check(shard, oracle(log));
        await shard.forceMerge(1);
        check(shard, oracle(log));
        shard.commit();
        shard.close();
        const reopened = openShard(folder);
        check(reopened, oracle(log));
        reopened.close();
      }));
  }
});
