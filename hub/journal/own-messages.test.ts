import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jetstream } from "@nats-io/jetstream";
import { START } from "#proto/position.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import { until } from "#test/harness/until.ts";
import { bytes, range, text, useJournal } from "#test/support/journal/test-journal.ts";

const world = useJournal();
const { readOwn, meddle } = world;

describe("a reader of what this process stores", () => {
  test("gets it from memory, and what others store between it from the server, in order", async () => {
    const sent = new Set<Uint8Array>();
    const numbers: number[] = [];
    const stop = new AbortController();
    let fromMemory = 0;
    const reading = (async () => {
      const options = { after: START, signal: stop.signal, ownFromMemory: true };
      for await (const { data, position } of world.journal.read(DOC_STREAM, options)) {
        assert.equal(position.sequence, numbers.push(Number(text(data))));
        if (sent.has(data)) fromMemory++;
      }
    })();
    let stored = 0;
    const store = async (): Promise<void> => {
      const data = bytes(`${stored++}`);
      sent.add(data);
      await world.journal.publish("doc.1.x.0", data);
    };
    while (fromMemory < 20) await Promise.all(range(1, 10).map(store));
    await meddle(async (_manager, nats) => {
      for (let nth = 0; nth < 15; nth++) await jetstream(nats).publish("doc.1.x.0", `${stored++}`);
    });
    for (let nth = 0; nth < 15; nth++) await store();
    await until("all are read", () => numbers.length === stored);
    stop.abort();
    await reading;
    assert.equal(new Set(numbers).size, stored);
  });

  test("gets the stored bytes where an id is used a second time", async () => {
    const reading = readOwn(21);
    for (const number of range(1, 20))
      await world.journal.publish("doc.1.x.0", bytes(`${number}`), { messageId: `${number}` });
    await world.journal.publish("doc.1.x.0", bytes("another 20"), { messageId: "20" });
    await world.journal.publish("doc.1.x.0", bytes("21"), { messageId: "21" });
    const messages = await reading;
    assert.deepEqual(messages.map(({ data, position }) => [position.sequence, text(data)]).slice(-2), [
      [20, "20"],
      [21, "21"],
    ]);
  });
});
