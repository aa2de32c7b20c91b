/**
 * `tailrace-hub import cluster`: from the answers recorded from an Elasticsearch 7.10.2 and 6.8.23, from another hub, and
 * from a cluster with many documents while the hub is killed.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { type ImportOutcome, runImportCommand } from "#hub/commands/import.ts";
import { parseImportCommand } from "#hub/commands/import-arguments.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { numberedCluster } from "#test/harness/numbered-cluster.ts";
import { recordedCluster } from "#test/harness/recorded-cluster.ts";
import { count } from "#test/harness/search.ts";
import { Workspace } from "#test/harness/workspace.ts";

interface Shown {
  readonly [name: string]: { readonly mappings: object; readonly aliases: object };
}

suite("import cluster", () => {
  const workspace = new Workspace();
  let hub: TestHub;

  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub") });
    workspace.defer(() => hub.destroy());
  });
  after(() => workspace.close());

  /** Imports `url` into the hub as the command does. */
  function importFrom(url: string, ...args: readonly string[]): Promise<ImportOutcome> {
    const place = ["-E", `http.port=${new URL(hub.searchUrl).port}`];
    const progress = { write: () => undefined };
    const { signal } = new AbortController();
    return runImportCommand(parseImportCommand(["cluster", url, ...args, ...place]), {
      env: {},
      progress,
      signal,
    });
  }

  const recorded = (t: TestContext, version: string) =>
    recordedCluster(t, join(import.meta.dirname, `recorded-${version}.json`));

  async function sourceOf(id: string): Promise<string> {
    return (await fetch(`${hub.searchUrl}/shop-1/_doc/${id}`)).text();
  }

  test("from 7.10.2: pipelines, templates, mapping, aliases and each document in its last version", async (t) => {
    const { url } = await recorded(t, "7.10.2");
    const { output, isOk } = await importFrom(url);
    // closed-1 is left out.
    assert.equal(isOk, false, output);
    assert.doesNotMatch(output, /REFUSED:|missing/);
    assert.match(output, /^shop-1 +shop-1 +39 +39 +39 +0$/m);
    assert.match(output, /^pipeline tag: imported\ntemplate bytes: imported\ntemplate app: imported\n/m);
    assert.match(output, /^index closed-1: closed, not imported/m);
    const { mappings, aliases } = (await ask<Shown>("GET", `${hub.searchUrl}/shop-1`))["shop-1"]!;
    assert.match(
      JSON.stringify(mappings),
      /"rank":\{"type":"integer_range"\}|"rank":\{"type":"object","enabled":false\}/,
    );
    assert.deepEqual(aliases, { current: {}, shops: {} });
    // A whole number beyond 2^53 stays exact.
    assert.match(await sourceOf("7"), /"_version":2.*"message":"changed line 7","bytes":9007199254740993/);
    assert.match(await sourceOf("30"), /"message":"line 30"/);
    assert.match(await sourceOf("40"), /"found":false/);
  });

  test("from 6.8.23: the index keeps the name of its type", async (t) => {
    await ask("DELETE", `${hub.searchUrl}/shop-1`);
    const { url } = await recorded(t, "6.8.23");
    const { output, isOk } = await importFrom(url);
    // closed-1 is left out.
    assert.equal(isOk, false, output);
    assert.doesNotMatch(output, /REFUSED:|missing/);
    const { mappings } = (await ask<Shown>("GET", `${hub.searchUrl}/shop-1`))["shop-1"]!;
    assert.deepEqual(Object.keys(mappings), ["doc"]);
    assert.match(await sourceOf("7"), /"message":"changed line 7"/);
  });

  test("an import that was interrupted reads on from where it stopped", async (t) => {
    await ask("DELETE", `${hub.searchUrl}/shop-1`);
    const cluster = await recorded(t, "7.10.2");
    const page = (shard: number): string => `POST /shop-1/_search?preference=_shards:${shard}`;
    cluster.failOn((request) => request === page(1));
    const only = ["--only", "indices,documents", "--parallel", "1"];
    await assert.rejects(importFrom(cluster.url, ...only), {
      code: "request_invalid",
      message: /answered 500/,
    });
    cluster.failOn(() => false);
    const { output } = await importFrom(cluster.url, ...only);
    assert.match(output, /^shop-1 +shop-1 +39 +39 +18 +0$/m);
    assert.equal(cluster.requests.filter((request) => request === page(0)).length, 1);
    // The positions are those of an index that is gone: everything is read again.
    await ask("DELETE", `${hub.searchUrl}/shop-1`);
    assert.match((await importFrom(cluster.url, ...only)).output, /^shop-1 +shop-1 +39 +39 +39 +0$/m);
  });

  test("a kill of the hub delays an import, and a later import adds what came since", async (t) => {
    const cluster = await numberedCluster(t, "many", 20_000);
    cluster.beforePage = async (from) => {
      if (from !== 2_500) return;
      await hub.kill9();
      await hub.start();
    };
    const { output } = await importFrom(cluster.url);
    assert.match(output, /^many +many +20000 +20000 +(19|20)\d{3} +0$/m);
    cluster.size = 20_010;
    cluster.pages.length = 0;
    assert.match((await importFrom(cluster.url)).output, /^many +many +20010 +20010 +10 +0$/m);
    assert.deepEqual(cluster.pages, [20_000]);
  });

  test("from another hub, which numbers no operations, by scroll", async () => {
    const other = await startHub({ dataDir: workspace.path("other", "hub") });
    workspace.defer(() => other.destroy());
    const lines = Array.from(
      { length: 1_200 },
      (_, n) => `{"index":{"_id":"${n}","routing":"r${n % 3}"}}\n{"n":${n}}\n`,
    );
    const body = {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: lines.join(""),
    };
    await (await fetch(`${other.searchUrl}/moved/_bulk?refresh=true`, body)).text();
    for (const written of [1_200, 0]) {
      const { output } = await importFrom(other.searchUrl, "--index", "mov*");
      assert.match(output, new RegExp(`^moved +moved +1200 +1200 +${written} +0$`, "m"));
    }
    assert.equal(await count(hub.searchUrl, { term: { _routing: "r2" } }, "moved"), 400);
  });

  test("a refused document and a refused index are named, and the command fails", async (t) => {
    const mapping = { mappings: { dynamic: "strict", properties: { other: { type: "keyword" } } } };
    await ask("PUT", `${hub.searchUrl}/strict`, mapping);
    const cluster = await numberedCluster(t, "strict", 3);
    const { output, isOk } = await importFrom(cluster.url);
    assert.equal(isOk, false);
    assert.match(output, /^strict +strict +3 +0 +0 +3$/m);
    assert.match(output, /^index strict: REFUSED document 0: .*\[n\]/m);
    assert.match(output, /^index strict: 3 documents are missing; import again$/m);
  });
});
