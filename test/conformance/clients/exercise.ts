/** The exercise of each foreign client, against a hub of its own that reports the version the client expects. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Settings } from "#test/harness/hub.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

export interface Line {
  readonly n: number;
  readonly level: string;
  readonly message: string;
}

/** A failure as a client throws it. */
export interface ClientFailure {
  readonly status: number | undefined;
  readonly type: string | undefined;
}

/** A client, with the calls of its dialect behind common names. */
export interface ClientUnderTest {
  createIndex(name: string, properties: Readonly<Record<string, object>>): Promise<void>;
  /** With the client's own helper where it has one; returns how many were written. */
  bulk(index: string, lines: readonly Line[]): Promise<number>;
  /** Total and the first documents. */
  search(index: string, body: object): Promise<{ total: number; documents: unknown[] }>;
  /** Every document, with the client's own helper where it has one. */
  scroll(index: string, pageSize: number): Promise<unknown[]>;
  /** Every document over a point in time, page by page; absent: the client knows none. */
  pages?(index: string, pageSize: number): Promise<unknown[]>;
  /** Total of a search in the background whose answer is kept, fetched and deleted; absent: the client knows none. */
  background?(index: string): Promise<number>;
  aggregate(index: string, aggs: object): Promise<Record<string, unknown>>;
  get(index: string, id: string): Promise<unknown>;
  deleteIndex(name: string): Promise<void>;
  failureOf(error: unknown): ClientFailure;
  close(): Promise<void>;
}

const LINES: readonly Line[] = Array.from({ length: 250 }, (_, n) => ({
  n,
  level: n % 10 === 0 ? "error" : "info",
  message: `request ${n} was answered`,
}));

/** Runs the exercise as a suite. */
export function exerciseClient(
  name: string,
  settings: Settings,
  connect: (url: string) => ClientUnderTest,
): void {
  suite(`${name} with compat.version ${String(settings["compat.version"])}`, () => {
    const workspace = new Workspace();
    let hub: TestHub;
    let client: ClientUnderTest;

    before(async () => {
      hub = await startHub({ dataDir: workspace.path("data", "hub"), settings });
      client = connect(hub.searchUrl);
    });
    after(async () => {
      await client?.close();
      await hub?.stop();
      await workspace.close();
    });

    test("makes an index and writes documents in bulk", async () => {
      const properties = { n: { type: "long" }, level: { type: "keyword" }, message: { type: "text" } };
      await client.createIndex("lines", properties);
      assert.equal(await client.bulk("lines", LINES), LINES.length);
    });

    test("searches", async () => {
      const query = {
        bool: { must: { match: { message: "request" } }, filter: { term: { level: "error" } } },
      };
      const { total, documents } = await client.search("lines", { query, sort: [{ n: "desc" }], size: 2 });
      assert.equal(total, 25);
      assert.deepEqual(documents, [LINES[240], LINES[230]]);
    });

    test("scrolls over everything", async () => {
      const found = (await client.scroll("lines", 40)) as Line[];
      assert.deepEqual(
        found.map(({ n }) => n).sort((a, b) => a - b),
        LINES.map(({ n }) => n),
      );
    });

    test("pages over a point in time", async (t) => {
      if (client.pages === undefined) return t.skip("the client knows none");
      const found = (await client.pages("lines", 40)) as Line[];
      assert.deepEqual(
        found.map(({ n }) => n),
        LINES.map(({ n }) => n),
      );
    });

    test("searches in the background", async (t) => {
      if (client.background === undefined) return t.skip("the client knows none");
      assert.equal(await client.background("lines"), LINES.length);
    });

    test("aggregates", async () => {
      const { levels } = await client.aggregate("lines", {
        levels: { terms: { field: "level" }, aggs: { most: { max: { field: "n" } } } },
      });
      const { buckets } = levels as { buckets: unknown };
      assert.deepEqual(buckets, [
        { key: "info", doc_count: 225, most: { value: 249 } },
        { key: "error", doc_count: 25, most: { value: 240 } },
      ]);
    });

    test("gets the reason of an error", async () => {
      const failures: [call: () => Promise<unknown>, failure: ClientFailure][] = [
        [() => client.search("nothing", {}), { status: 404, type: "index_not_found_exception" }],
        [() => client.search("lines", { query: { foo: {} } }), { status: 400, type: "parsing_exception" }],
        [() => client.get("lines", "nothing"), { status: 404, type: undefined }],
        [() => client.createIndex("lines", {}), { status: 400, type: "resource_already_exists_exception" }],
      ];
      for (const [call, failure] of failures) {
        await assert.rejects(call, (error) => {
          assert.deepEqual(client.failureOf(error), failure);
          return true;
        });
      }
    });

    test("deletes the index", async () => {
      await client.deleteIndex("lines");
      await assert.rejects(() => client.search("lines", {}));
    });
  });
}

/** Reads a failure from the answer that most clients keep with the error. */
export function answerFailure(error: unknown): ClientFailure {
  const { statusCode, body, meta } = error as {
    statusCode?: number;
    body?: { error?: { type?: string } };
    meta?: { statusCode?: number; body?: { error?: { type?: string } } };
  };
  return {
    status: statusCode ?? meta?.statusCode,
    type: (body ?? meta?.body)?.error?.type,
  };
}
