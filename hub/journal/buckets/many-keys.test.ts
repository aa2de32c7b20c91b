import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Journal } from "#hub/journal/journal.ts";
import { allSubjects, subjectPage } from "#hub/journal/streams/stream-subjects.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { clusteredNats } from "#test/harness/clustered-nats.ts";
import { findBinary, startNats } from "#test/harness/nats.ts";

/** More than a server names in one answer. */
const KEYS = 120_000;
/** Publishes without an answer before one with it: newer servers drop what comes above 10,000 that wait. */
const UNANSWERED = 2_000;

const programs = new Set([findBinary(), clusteredNats() ?? findBinary()]);

for (const program of programs)
  test(`a bucket of ${KEYS} keys is listed whole by ${program}`, async (t) => {
    const server = await startNats({ program });
    t.after(() => server.stop());
    const folder = mkdtempSync(join(tmpdir(), "tailrace-keys-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const journal = new Journal({
      dataDir: folder,
      host: "127.0.0.1",
      port: 0,
      name: "test",
      external: { servers: [server.url], token: server.token },
      maxBytes: 32 * 1024 ** 2,
      log: silentLogger(),
      metrics: new Metrics(),
    });
    await journal.start();
    t.after(() => journal.stop());
    const bucket = await journal.bucket("many");
    const nats = await connect({ servers: server.url, token: server.token });
    t.after(() => nats.close());
    const stream = jetstream(nats, { timeout: 30_000 });
    const keys = Array.from({ length: KEYS }, (_, at) => `k${at + KEYS}`);
    for (const [at, key] of keys.entries())
      if (at % UNANSWERED === 0) await stream.publish(`$KV.many.${key}`);
      else nats.publish(`$KV.many.${key}`);
    await nats.flush();
    assert.deepEqual((await bucket.keys()).toSorted(), keys);

    const { streams } = await jetstreamManager(nats);
    let answers = 0;
    const subjects = await allSubjects(async (offset) => {
      const page = await subjectPage(nats, "KV_many", "$KV.many.>", offset, 30_000);
      if (++answers === 1) await streams.purge("KV_many", { filter: `$KV.many.${keys[0]}` });
      return page;
    });
    assert.deepEqual(
      subjects.toSorted(),
      keys.map((key) => `$KV.many.${key}`),
    );
    assert.equal(answers, 2);
  });
