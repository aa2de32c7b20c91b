import assert from "node:assert/strict";
import { test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { allSubjects, subjectPage } from "#hub/journal/streams/stream-subjects.ts";
import { clusteredNats } from "#test/harness/clustered-nats.ts";
import { findBinary } from "#test/harness/nats.ts";
import { openJournal } from "#test/support/journal/external-journal.ts";

/** More than a server names in one answer. */
const KEYS = 120_000;
/** Publishes without an answer before one with it: newer servers drop what comes above 10,000 that wait. */
const UNANSWERED = 2_000;

const programs = new Set([findBinary(), clusteredNats() ?? findBinary()]);

for (const program of programs)
  test(`a bucket of ${KEYS} keys is listed whole by ${program}`, async (t) => {
    const { journal, nats: server, close } = await openJournal(program);
    t.after(close);
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
