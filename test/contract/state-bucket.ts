/** Contract of StateBucket, run over the one in memory and the one on NATS. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateChange } from "#proto/kit/state-bucket.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | null | undefined): string | null =>
  value === null || value === undefined ? null : Buffer.from(value).toString();
const conflict = (error: unknown): boolean => error instanceof AppError && error.code === "journal_conflict";

export interface OpenedBucket {
  readonly bucket: StateBucket;
  close(): Promise<void>;
}

/** Declares the suite `name`; `open` creates an empty bucket and is called once. */
export function stateBucketContract(name: string, open: () => Promise<OpenedBucket>): void {
  describe(`${name} as a state bucket`, () => {
    let opened: OpenedBucket;
    let bucket: StateBucket;

    before(async () => {
      opened = await open();
      bucket = opened.bucket;
    });
    after(() => opened.close());

    test("a key that was never stored is null, and deleting it isn't an error", async () => {
      assert.equal(await bucket.get("never"), null);
      await bucket.delete("never");
      assert.equal(await bucket.get("never"), null);
    });

    test("a stored value is read with its revision", async () => {
      const revision = await bucket.put("put.one", bytes("1"));
      const entry = await bucket.get("put.one");
      assert.deepEqual([entry?.key, text(entry?.value), entry?.revision], ["put.one", "1", revision]);
    });

    test("an empty value is a value", async () => {
      await bucket.put("empty", bytes(""));
      assert.equal(text((await bucket.get("empty"))?.value), "");
      assert.deepEqual(await bucket.keys("empty"), ["empty"]);
    });

    test("revisions of the bucket grow with every change", async () => {
      const revisions = [
        await bucket.put("grow.a", bytes("1")),
        await bucket.put("grow.b", bytes("1")),
        await bucket.put("grow.a", bytes("2")),
      ];
      assert.deepEqual(
        revisions,
        [...new Set(revisions)].sort((a, b) => a - b),
      );
    });

    test("create stores a new key once, and again after a deletion", async () => {
      await bucket.create("create", bytes("1"));
      await assert.rejects(bucket.create("create", bytes("2")), conflict);
      assert.equal(text((await bucket.get("create"))?.value), "1");
      await bucket.delete("create");
      const revision = await bucket.create("create", bytes("3"));
      assert.deepEqual(await bucket.get("create"), {
        key: "create",
        value: (await bucket.get("create"))!.value,
        revision,
      });
      await assert.rejects(bucket.create("create", bytes("4")), conflict);
    });

    test("update needs the newest revision", async () => {
      const first = await bucket.create("update", bytes("1"));
      const second = await bucket.update("update", bytes("2"), first);
      await assert.rejects(bucket.update("update", bytes("3"), first), conflict);
      await assert.rejects(bucket.update("update.missing", bytes("3"), second), conflict);
      assert.equal(text((await bucket.get("update"))?.value), "2");
    });

    test("of many concurrent updates exactly one wins", async () => {
      const revision = await bucket.create("race", bytes("start"));
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => bucket.update("race", bytes(`${index}`), revision)),
      );
      const winners = results.flatMap((result, index) => (result.status === "fulfilled" ? [index] : []));
      assert.equal(winners.length, 1);
      assert.ok(results.every((result) => result.status === "fulfilled" || conflict(result.reason)));
      assert.equal(text((await bucket.get("race"))?.value), `${winners[0]}`);
    });

    test("delete with a revision needs the newest one", async () => {
      const first = await bucket.create("delete", bytes("1"));
      const second = await bucket.update("delete", bytes("2"), first);
      await assert.rejects(bucket.delete("delete", first), conflict);
      await bucket.delete("delete", second);
      assert.equal(await bucket.get("delete"), null);
      await assert.rejects(bucket.update("delete", bytes("3"), second), conflict);
    });

    test("keys lists present keys with the prefix, wherever it ends", async () => {
      const deep = ["list.deep.1", "list.deep.x.2", "list.deep.gone", "list.over.gone"];
      for (const key of ["list.a1", "list.a2", "list.b", "list_other", "list.gone", ...deep])
        await bucket.put(key, bytes("x"));
      for (const key of ["list.gone", "list.deep.gone", "list.over.gone"]) await bucket.delete(key);
      assert.deepEqual((await bucket.keys("list.a")).sort(), ["list.a1", "list.a2"]);
      const below = ["list.a1", "list.a2", "list.b", "list.deep.1", "list.deep.x.2"];
      assert.deepEqual((await bucket.keys("list")).sort(), [...below, "list_other"]);
      assert.deepEqual((await bucket.keys("list.")).sort(), below);
      assert.deepEqual((await bucket.keys("list.deep.")).sort(), ["list.deep.1", "list.deep.x.2"]);
      for (const prefix of [
        "nothing",
        "nothing.",
        "list.over.",
        "list.a1.",
        "no subject.",
        "list..",
        ".",
        "*.",
      ])
        assert.deepEqual(await bucket.keys(prefix), [], prefix);
      assert.ok((await bucket.keys()).includes("list.b"));
    });

    test("a watch yields the existing keys and then every change until it is aborted", async () => {
      await bucket.put("watch.a", bytes("1"));
      await bucket.put("watch.b", bytes("1"));
      await bucket.put("watch.gone", bytes("1"));
      await bucket.delete("watch.gone");
      const stop = new AbortController();
      const changes = bucket.watch(stop.signal)[Symbol.asyncIterator]();
      const next = async (): Promise<StateChange> => {
        for (;;) {
          const { value, done } = await changes.next();
          if (done) throw new Error("the watch ended");
          if (value.key.startsWith("watch.")) return value;
        }
      };
      const present = [await next(), await next()].map(({ key, value }) => `${key}=${text(value)}`);
      assert.deepEqual(present.sort(), ["watch.a=1", "watch.b=1"]);
      const revision = await bucket.put("watch.a", bytes("2"));
      assert.deepEqual({ ...(await next()), value: "2" }, { key: "watch.a", value: "2", revision });
      await bucket.delete("watch.b");
      const { key, value } = await next();
      assert.deepEqual([key, value], ["watch.b", null]);
      const ending = changes.next();
      stop.abort();
      assert.equal((await ending).done, true);
    });
  });
}
