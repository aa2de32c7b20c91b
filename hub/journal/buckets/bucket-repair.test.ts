import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { StateChange } from "#proto/kit/state-bucket.ts";
import { interruptedRepairs, type RepairedBucket, repairBucket } from "./bucket-repair.ts";

const root = mkdtempSync(join(tmpdir(), "tailrace-repair-"));
after(() => rmSync(root, { recursive: true, force: true }));

interface StoredRecord {
  readonly key: string;
  readonly value: string | null;
  readonly damaged?: boolean;
}

/** A bucket of a server from 2.10 on, by sequence. */
class FakeBucket implements RepairedBucket {
  readonly name = "b";
  readonly records = new Map<number, StoredRecord>();
  /** Records that a listing stops before, as a server's that pauses. */
  readonly pauses = new Set<string>();
  /** What somebody else does before the bucket is emptied. */
  beforeClear: () => void = () => undefined;
  cleared = 0;
  #first = 1;
  #last = 0;

  put(key: string, value: string | null, damaged = false): void {
    for (const [sequence, record] of this.records) if (record.key === key) this.records.delete(sequence);
    this.records.set(++this.#last, { key, value, damaged });
  }

  get values(): Record<string, string | null> {
    return Object.fromEntries([...this.records.values()].map(({ key, value }) => [key, value]));
  }

  async bounds(): Promise<{ messages: number; firstSequence: number; lastSequence: number }> {
    return { messages: this.records.size, firstSequence: this.#first, lastSequence: this.#last };
  }

  async readAll(take: (entry: StateChange) => void): Promise<number> {
    let left = this.records.size;
    for (const [revision, { key, value, damaged = false }] of this.records) {
      if (this.pauses.has(key)) break;
      if (damaged) continue;
      take({ key, value: value === null ? null : Buffer.from(value), revision });
      left--;
    }
    return left;
  }

  async storedKeys(): Promise<string[]> {
    return [...this.records.values()].map(({ key }) => key);
  }

  async read(key: string): Promise<StateChange | null> {
    for (const [revision, { key: stored, value, damaged = false }] of this.records)
      if (stored === key && !damaged)
        return { key, value: value === null ? null : Buffer.from(value), revision };
    return null;
  }

  async clear(lastSequence: number): Promise<void> {
    this.beforeClear();
    this.cleared++;
    for (const sequence of this.records.keys()) if (sequence <= lastSequence) this.records.delete(sequence);
    this.#first = lastSequence + 1;
  }

  async add(key: string, value: Uint8Array): Promise<void> {
    if ((await this.storedKeys()).includes(key)) throw new AppError("journal_conflict", "it has a record");
    this.put(key, Buffer.from(value).toString());
  }
}

function bucketOf(...keys: string[]): FakeBucket {
  const bucket = new FakeBucket();
  for (const key of keys) bucket.put(key, `value of ${key}`);
  return bucket;
}

function newFolder(): string {
  return mkdtempSync(join(root, "f-"));
}

const repair = (bucket: FakeBucket, folder: string): Promise<void> =>
  repairBucket(bucket, folder, silentLogger());

test("a bucket without damage is left alone", async () => {
  const bucket = bucketOf("a", "b");
  await repair(bucket, newFolder());
  assert.equal(bucket.cleared, 0);
});

test("a server that pauses in each listing hides nothing: the bucket is left alone", async () => {
  const [bucket, folder] = [bucketOf("a", "b", "c"), newFolder()];
  bucket.pauses.add("b");
  await repair(bucket, folder);
  assert.equal(bucket.cleared, 0);
  assert.equal(existsSync(join(folder, "b.copy.part")), false);
});

test("a damaged record is lost alone, also where the listing paused before others", async () => {
  const [bucket, folder] = [bucketOf("a", "b"), newFolder()];
  bucket.put("bad", "x", true);
  bucket.put("c", "value of c");
  bucket.pauses.add("b");
  await repair(bucket, folder);
  assert.deepEqual(bucket.values, { a: "value of a", b: "value of b", c: "value of c" });
  assert.deepEqual(interruptedRepairs(folder), []);
});

test("what others write and delete meanwhile stays so", async () => {
  const bucket = bucketOf("a", "changed", "deleted", "lost");
  bucket.put("bad", "x", true);
  bucket.beforeClear = () => {
    bucket.put("changed", "newer");
    bucket.put("deleted", null);
    bucket.put("made", "new");
  };
  await repair(bucket, newFolder());
  const expected = {
    a: "value of a",
    lost: "value of lost",
    changed: "newer",
    deleted: null,
    made: "new",
  };
  assert.deepEqual(bucket.values, expected);
});

test("a crash at any step loses nothing that could be read", async () => {
  for (const crash of ["clear", "bounds", "add"] as const)
    for (const at of [1, 2, 3]) {
      const [bucket, folder] = [bucketOf("a", "b", "c"), newFolder()];
      bucket.put("bad", "x", true);
      const whole = bucket[crash].bind(bucket) as (...args: unknown[]) => Promise<never>;
      let calls = 0;
      bucket[crash] = (...args: unknown[]): Promise<never> =>
        ++calls === at ? Promise.reject(new AppError("closed", "killed")) : whole(...args);
      await repair(bucket, folder).catch((error: AppError) => assert.equal(error.code, "closed"));
      bucket[crash] = whole;
      await repair(bucket, folder);
      assert.deepEqual(
        bucket.values,
        { a: "value of a", b: "value of b", c: "value of c" },
        `${crash} ${at}`,
      );
      assert.deepEqual(interruptedRepairs(folder), []);
    }
});

test("the copy of a repair that a crash interrupted doesn't bring back what was deleted since", async () => {
  const [bucket, folder] = [bucketOf("a", "mallory"), newFolder()];
  bucket.put("bad", "x", true);
  bucket.add = () => Promise.reject(new AppError("closed", "killed"));
  await assert.rejects(repair(bucket, folder), { code: "closed" });
  assert.deepEqual(interruptedRepairs(folder), ["b"]);
  const later = new FakeBucket();
  await later.clear(3);
  later.put("mallory", null);
  await repair(later, folder);
  assert.deepEqual(later.values, { a: "value of a", mallory: null });
});

test("a bucket that the server has lost gets what the copy has", async () => {
  const [bucket, folder] = [new FakeBucket(), newFolder()];
  writeFileSync(join(folder, "b.copy"), '{"lastSequence":9}\n{"key":"a","value":"eA=="}\n');
  await repair(bucket, folder);
  assert.deepEqual(bucket.values, { a: "x" });
});

test("a disk that gets full leaves the bucket as it is, and no part of a copy", async () => {
  const [bucket, folder] = [bucketOf("a"), newFolder()];
  bucket.put("bad", "x", true);
  bucket.read = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
  await repair(bucket, folder);
  assert.equal(bucket.cleared, 0);
  assert.deepEqual(readdirSync(folder), []);
});

test("a server that fails while its records are copied isn't taken for a full disk", async () => {
  const [bucket, folder] = [bucketOf("a"), newFolder()];
  bucket.put("bad", "x", true);
  bucket.read = () => Promise.reject(new AppError("unavailable", "no server"));
  await assert.rejects(repair(bucket, folder), { code: "unavailable" });
  assert.deepEqual([bucket.cleared, readdirSync(folder)], [0, []]);
});

test("without a place for the copy the bucket is left as it is", async () => {
  const bucket = bucketOf("a");
  bucket.put("bad", "x", true);
  await repair(bucket, join(newFolder(), "missing"));
  assert.equal(bucket.cleared, 0);
});

test("a damaged line of the copy is named with the remedy", async () => {
  const [bucket, folder] = [new FakeBucket(), newFolder()];
  const file = join(folder, "b.copy");
  await bucket.clear(5);
  writeFileSync(file, '{"lastSequence":5}\n{"key":"a","val\n');
  await assert.rejects(repair(bucket, folder), {
    code: "data_corrupt",
    message: `line 2 of ${file} is damaged; remove that line to start without its record`,
  });
  assert.match(readFileSync(file, "utf8"), /lastSequence/);
});
