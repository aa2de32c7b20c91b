/** For tests: a log of its own for each test, and what its users do. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach } from "node:test";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { HUB_USER } from "#hub/journal/connection/connection.ts";
import { Journal, type JournalOptions } from "#hub/journal/journal.ts";
import type { JournalMessage } from "#hub/journal/reading/reader.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (data: Uint8Array): string => Buffer.from(data).toString();
export const at = (incarnation: number, sequence: number): Position => ({ incarnation, sequence });
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Starts a log before each test of the file and ends it afterwards. */
export function useJournal() {
  const root = mkdtempSync(join(tmpdir(), "tailrace-journal-"));
  after(() => rmSync(root, { recursive: true, force: true }));

  let dataDir = "";
  let metrics = new Metrics();
  let journal: Journal;

  function newJournal(options: Partial<JournalOptions> = {}): Journal {
    metrics = new Metrics();
    const common = {
      dataDir,
      host: "127.0.0.1",
      port: 0,
      name: "test",
      log: silentLogger(),
      metrics,
      maxBytes: 64 * MIB,
    };
    return new Journal({ ...common, ...options });
  }

  beforeEach(async () => {
    dataDir = mkdtempSync(join(root, "data-"));
    journal = newJournal();
    await journal.start();
  });
  afterEach(() => journal.stop());

  /** Stops the journal, lets `change` have the files, and starts another one on them. */
  async function restart(change: (natsDir: string) => void = () => undefined): Promise<void> {
    await journal.stop();
    change(join(dataDir, "nats"));
    journal = newJournal();
    await journal.start();
  }

  /** Stops the journal and starts another one with other options. */
  async function reopen(options: Partial<JournalOptions>): Promise<void> {
    await journal.stop();
    journal = newJournal(options);
    await journal.start();
  }

  /** Publishes `from`..`to`, each as its own decimal text. */
  async function publishNumbers(from: number, to: number, subject = "raw.1.agent"): Promise<void> {
    for (const number of range(from, to))
      await journal.publish(subject, bytes(`${number}`), { messageId: `${number}` });
  }

  /** Reads messages until `enough` says so. */
  async function readUntil(
    stream: string,
    from: Position,
    enough: (messages: readonly JournalMessage[]) => boolean,
    filter?: string,
  ): Promise<JournalMessage[]> {
    const messages: JournalMessage[] = [];
    const stop = new AbortController();
    const options = { after: from, signal: stop.signal, ...(filter === undefined ? {} : { filter }) };
    for await (const message of journal.read(stream, options)) {
      messages.push(message);
      if (enough(messages)) stop.abort();
    }
    return messages;
  }

  async function readNumbers(
    stream: string,
    from: Position,
    count: number,
    filter?: string,
  ): Promise<number[]> {
    const messages = await readUntil(stream, from, ({ length }) => length === count, filter);
    return messages.map(({ data }) => Number(text(data)));
  }

  /** As the hub's shards read DOC: what this process stores comes from memory. */
  async function readOwn(count: number): Promise<JournalMessage[]> {
    const messages: JournalMessage[] = [];
    const stop = new AbortController();
    const options = { after: START, signal: stop.signal, ownFromMemory: true };
    for await (const message of journal.read(DOC_STREAM, options))
      if (messages.push(message) === count) stop.abort();
    return messages;
  }

  async function readAll(signal: AbortSignal): Promise<JournalMessage[]> {
    const messages: JournalMessage[] = [];
    for await (const message of journal.read(RAW_STREAM, { after: START, signal })) messages.push(message);
    return messages;
  }

  /** Lets `act` do to the server what the journal itself never does. */
  async function meddle(
    act: (manager: JetStreamManager, nats: NatsConnection) => Promise<unknown>,
  ): Promise<void> {
    const { url, token } = journal.server.address;
    const nats = await connect({ servers: url, user: HUB_USER, pass: token });
    await act(await jetstreamManager(nats), nats);
    await nats.close();
  }

  /** Removes a message from the middle, as damage to the files would. */
  function removeMessage(stream: string, sequence: number): Promise<void> {
    return meddle((manager) => manager.streams.deleteMessage(stream, sequence));
  }

  function removeConsumers(stream: string): Promise<void> {
    return meddle(async ({ consumers }) => {
      for await (const { name } of consumers.list(stream)) await consumers.delete(stream, name);
    });
  }

  async function metric(name: string): Promise<string> {
    const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith(name));
    return lines.join("\n");
  }

  return {
    newJournal,
    restart,
    reopen,
    publishNumbers,
    readUntil,
    readNumbers,
    readOwn,
    readAll,
    meddle,
    removeMessage,
    removeConsumers,
    metric,
    root,
    /** The one that runs now. */
    get journal(): Journal {
      return journal;
    },
    get dataDir(): string {
      return dataDir;
    },
  };
}
