import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { SegmentFile } from "#hub/engine/files/segment-file.ts";
import { NO_MORE_DOCS, type Searcher } from "#hub/engine/searcher/searcher.ts";
import { Segment } from "#hub/engine/segment/segment.ts";
import { SnapshotReader } from "#hub/engine/segment/snapshot-reader.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Random } from "#test/support/engine/random.ts";
import {
  apply,
  contents,
  DELETE,
  INDEX,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";

/** A folder with three commits of 40 documents each, the last with deletions in the first. */
function fill(folder: string): void {
  const shard = openShard(folder);
  for (let round = 0; round < 3; round++) {
    const operations = Array.from({ length: 40 }, (_, index) =>
      operation(
        INDEX,
        `d${round}-${index}`,
        { message: `word${index} common`, n: index, k: `k${index % 5}` },
        { appendOnly: true },
      ),
    );
    if (round === 2) operations.push(operation(DELETE, "d0-1"));
    apply(shard, round + 1, ...operations);
    shard.commit();
  }
  shard.close();
}

/** Reads everything there is to read. */
function readAll(searcher: Searcher): number {
  let read = 0;
  for (const segment of searcher.segments) {
    for (const field of segment.fieldNames()) {
      const iterator = segment.terms(field)?.range();
      while (iterator?.next()) {
        const cursor = iterator.postings({ positions: true });
        for (let doc = cursor.next(); doc !== NO_MORE_DOCS; doc = cursor.next())
          read += cursor.freq + cursor.positions().length;
      }
      segment.exists(field)?.count();
      for (let doc = 0; doc < segment.docCount; doc++) segment.numericColumn(field)?.first(doc);
    }
    for (let doc = 0; doc < segment.docCount; doc++)
      read += segment.source(doc).length + segment.id(doc).length + segment.ignored(doc).length;
  }
  return read;
}

suite("damaged files", () => {
  const damages: readonly (readonly [name: string, damage: (folder: string, files: string[]) => void])[] = [
    ["a segment file that is gone", (folder, files) => rmSync(join(folder, files[1]!))],
    ["a segment file that is cut", (folder, files) => truncateSync(join(folder, files[1]!), 500)],
    ["a segment file that is empty", (folder, files) => truncateSync(join(folder, files[1]!), 0)],
    ["a segment file with a flipped bit", (folder, files) => flip(join(folder, files[1]!), 300)],
  ];
  for (const [name, damage] of damages) {
    test(`${name} is named, the rest is served and the log fills the gap`, () =>
      withFolder((folder) => {
        fill(folder);
        damage(
          folder,
          readdirSync(folder)
            .filter((file) => file.endsWith(".seg"))
            .sort(),
        );
        const shard = openShard(folder);
        assert.deepEqual(
          shard.lost.map(({ docs, after }) => [docs, after.sequence]),
          [[40, 1]],
        );
        assert.deepEqual([shard.fellBack, shard.position.sequence], [true, 1]);
        assert.equal(contents(shard.searcher()).size, 79);
        const again = Array.from({ length: 40 }, (_, index) =>
          operation(INDEX, `d1-${index}`, {}, { appendOnly: true }),
        );
        apply(shard, 2, ...again);
        shard.commit();
        const third = Array.from({ length: 40 }, (_, index) =>
          operation(INDEX, `d2-${index}`, {}, { appendOnly: true }),
        );
        apply(shard, 3, ...third, operation(DELETE, "d0-1"));
        apply(shard, 4, operation(INDEX, "new", {}, { appendOnly: true }));
        shard.refresh();
        assert.equal(contents(shard.searcher()).size, 120);
        shard.commit();
        shard.close();
        const whole = openShard(folder);
        assert.deepEqual([whole.fellBack, contents(whole.searcher()).size], [false, 120]);
        whole.close();
      }));
  }

  test("a segment that memory is missing to check is not damaged", (t) =>
    withFolder((folder) => {
      fill(folder);
      const check = t.mock.method(SegmentFile.prototype, "verify");
      const fail = (): never => {
        throw new AppError("memory_limit", "the buffers are full");
      };
      check.mock.mockImplementationOnce(fail, 1);
      assert.throws(
        () => openShard(folder),
        (error: AppError) => error.code === "memory_limit",
      );
      const shard = openShard(folder);
      assert.deepEqual([shard.lost, shard.fellBack, contents(shard.searcher()).size], [[], false, 119]);
      shard.close();
    }));

  test("a damaged manifest gives way to the one before", () =>
    withFolder((folder) => {
      fill(folder);
      flip(join(folder, "manifest-3.json"), 100);
      const shard = openShard(folder);
      assert.deepEqual([shard.fellBack, shard.position.sequence], [true, 2]);
      assert.equal(contents(shard.searcher()).size, 80);
      apply(shard, 3, operation(INDEX, "x", {}));
      shard.commit();
      shard.close();
      const reopened = openShard(folder);
      assert.deepEqual([reopened.fellBack, reopened.position.sequence], [false, 3]);
      reopened.close();
    }));

  test("without any intact manifest the shard fails to open", () =>
    withFolder((folder) => {
      fill(folder);
      for (const name of ["manifest-2.json", "manifest-3.json"]) truncateSync(join(folder, name), 10);
      assert.throws(() => openShard(folder), { code: "data_corrupt" });
    }));

  test("no flipped byte or cut of a segment file is served or crashes the reader", () =>
    withFolder((folder) => {
      fill(folder);
      const file = readdirSync(folder).find((name) => name.endsWith(".seg"))!;
      const original = readFileSync(join(folder, file));
      const copy = join(folder, "copy");
      cpSync(join(folder, file), copy);
      const random = new Random(23);
      for (let round = 0; round < 300; round++) {
        const bytes = Buffer.from(original);
        const at = random.below(bytes.length);
        bytes[at]! ^= 1 << random.below(8);
        writeFileSync(copy, random.oneIn(4) ? bytes.subarray(0, at) : bytes);
        assert.throws(
          () => verify(copy),
          (error) => error instanceof AppError && error.code === "data_corrupt",
          `byte ${at}`,
        );
      }
    }));

  test("damage under a wrong trust, as of memory, ends in an error or other answers, never in a hang", () =>
    withFolder((folder) => {
      fill(folder);
      const file = readdirSync(folder).find((name) => name.endsWith(".seg"))!;
      const original = readFileSync(join(folder, file));
      const random = new Random(29);
      for (let round = 0; round < 200; round++) {
        const bytes = Buffer.from(original);
        for (let flips = 0; flips < 3; flips++)
          bytes[random.below(bytes.length - 2000)]! ^= 1 << random.below(8);
        try {
          const segment = new Segment(SegmentFile.ofMemory("x", bytes));
          readAll({
            segments: [new SnapshotReader(segment, null)],
            totalDocs: 0,
            close: () => {},
          } as unknown as Searcher);
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      }
    }));
});

function verify(path: string): void {
  const file = SegmentFile.open("copy", path);
  try {
    file.verify();
  } finally {
    file.close();
  }
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 4;
  writeFileSync(path, bytes);
}
