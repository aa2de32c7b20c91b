import assert from "node:assert/strict";
import { test } from "node:test";
import { Watermarks } from "#hub/fleet/watermarks.ts";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import { cursorKey } from "#hub/pipeline/runtime/cursor.ts";
import type { CursorEvent } from "#hub/pipeline/runtime/ports.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { FoldingSink, MemoryRaw } from "#test/harness/pipeline-log.ts";
import { expectedMessages, fill, messages, setting, started } from "#test/harness/running-pipeline.ts";
import { followLosses, LogLosses } from "./log-loss.ts";

const at = (incarnation: number, sequence: number): Position => ({ incarnation, sequence });

const FIRST = new Incarnations();
/** The stream was set back to 80 messages. */
const SET_BACK = FIRST.raise(80, 0);
const MADE_ANEW = FIRST.raise(0, 0);

/** DOC with incarnations that begin as a test says, and what the shards have committed. */
class LostLog {
  incarnations: Incarnations;
  committed: Position;
  readonly losses: LogLosses;
  #listener: (stream: string, incarnation: number) => void = () => undefined;

  constructor(incarnations: Incarnations, committed: Position) {
    this.incarnations = incarnations;
    this.committed = committed;
    const isKnown = (incarnation: number): boolean => this.committed.incarnation <= incarnation;
    this.losses = new LogLosses({
      journal: {
        incarnation: () => this.incarnations.current,
        positionOf: (_stream, sequence) => this.incarnations.positionOf(sequence),
        sequenceAt: (_stream, position) => this.incarnations.nextAfter(position) - 1,
      },
      committed: (incarnation) => (isKnown(incarnation) ? this.committed : START),
    });
  }

  /** See Journal.onIncarnation. */
  onIncarnation(listener: (stream: string, incarnation: number) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  /** DOC is empty from here on. */
  lose(): void {
    this.incarnations = this.incarnations.raise(0, 0);
    this.#listener(DOC_STREAM, this.incarnations.current.incarnation);
  }

  raise(stream: string): void {
    this.#listener(stream, 2);
  }
}

for (const [name, incarnations, committed, written, survives] of [
  ["of an intact log", FIRST, at(1, 50), [at(1, 90), 1], true],
  ["that no message of DOC has", MADE_ANEW, START, [START, 0], true],
  ["that shards had committed before the log was made anew", MADE_ANEW, at(1, 90), [at(1, 90), 1], true],
  ["that shards hadn't committed", MADE_ANEW, at(1, 90), [at(1, 91), 1], false],
  ["that the stream has since it was set back", SET_BACK, at(1, 50), [at(1, 80), 1], true],
  ["behind what the stream has since", SET_BACK, at(1, 50), [at(1, 81), 1], false],
  ["that shards have committed behind that", SET_BACK, at(1, 90), [at(1, 90), 1], true],
  ["compared with the newest incarnation", MADE_ANEW, at(1, 50), [at(1, 90), 2], true],
  ["of the newest incarnation", MADE_ANEW, at(2, 5), [at(2, 50), 2], true],
  ["of a session of before the loss that goes on", MADE_ANEW, at(1, 50), [at(2, 1), 1], false],
  ["of before a loss that shards have passed", MADE_ANEW, at(2, 5), [at(1, 40), 1], false],
  ["of before two losses, the stream set back twice", SET_BACK.raise(70, 0), START, [at(1, 70), 1], true],
  ["of between two losses", SET_BACK.raise(70, 0), START, [at(2, 90), 2], false],
  ["kept at one loss, before the next", SET_BACK.raise(0, 0), at(2, 85), [at(1, 80), 2], true],
] as const)
  test(`documents ${name} ${survives ? "have survived" : "are lost"}`, () => {
    const { losses } = new LostLog(incarnations, committed);
    const [docPosition, docIncarnation] = written;
    assert.equal(losses.survives({ docPosition, docIncarnation }), survives);
  });

test("what was committed at a loss is known after the shards have passed it", () => {
  const log = new LostLog(FIRST, at(1, 50));
  followLosses({ journal: log, losses: log.losses, pipelines: { resume: async () => undefined } });
  log.lose();
  log.committed = at(2, 5);
  const survives = (sequence: number): boolean =>
    log.losses.survives({ docPosition: at(1, sequence), docIncarnation: 1 });
  assert.deepEqual([survives(50), survives(51)], [true, false]);
});

test("a loss of DOC while the hub runs makes the pipelines resume, one of RAW doesn't", () => {
  const log = new LostLog(MADE_ANEW, START);
  let resumed = 0;
  const pipelines = { resume: async () => void resumed++ };
  followLosses({ journal: log, losses: log.losses, pipelines });
  log.raise(RAW_STREAM);
  assert.equal(resumed, 0);
  log.raise(DOC_STREAM);
  assert.equal(resumed, 1);
});

/** Returns the stored cursor of partition 7. */
async function storedCursor(cursors: StateBucket) {
  const { value } = (await cursors.get(cursorKey(7)))!;
  return JSON.parse(Buffer.from(value).toString()) as Record<string, unknown>;
}

test("a cursor that is reset is stored before RAW is read, so that a restart doesn't bring it back", async (t) => {
  const before = setting();
  fill(before.raw, 20, 2);
  const first = await started(t, before);
  await before.sink.reached(20);
  await first.stop();
  const log = new LostLog(MADE_ANEW, at(1, 1));
  const { cursors } = before;
  const empty = { raw: new MemoryRaw(), sink: new FoldingSink(), cursors };
  const second = await started(t, empty, { losses: log.losses });
  const { docPosition, docIncarnation, sources } = await storedCursor(cursors);
  assert.deepEqual(
    { docPosition, docIncarnation, sources },
    { docPosition: START, docIncarnation: 2, sources: [] },
  );
  await second.stop();
  log.committed = at(2, 5);
  const sink = new FoldingSink();
  await started(t, { ...empty, sink }, { losses: log.losses });
  fill(empty.raw, 20, 2);
  await sink.reached(20);
  assert.deepEqual(messages(sink), expectedMessages(20));
});

test("a cursor whose documents have survived keeps its ranges, and is compared once", async (t) => {
  const all = setting();
  fill(all.raw, 20, 2);
  const first = await started(t, all);
  await all.sink.reached(20);
  await first.stop();
  const { length } = all.sink.writes;
  const log = new LostLog(MADE_ANEW, at(1, 20));
  const second = await started(t, all, { losses: log.losses });
  await second.stop();
  log.committed = at(2, 5);
  await started(t, all, { losses: log.losses });
  all.raw.append({ text: "the end\n", from: 1_000 });
  await all.sink.reached(21);
  assert.equal(all.sink.writes.length, length + 1);
});

test("a partition that is taken over after the loss is made again as well", async (t) => {
  const log = new LostLog(FIRST, at(1, 1));
  const all = setting();
  const options = { sharing: { mayWrite: () => true }, losses: log.losses };
  fill(all.raw, 20, 2, "f", 7);
  fill(all.raw, 20, 2, "g", 8);
  const dies = await started(t, all, { ...options, hub: "hub-B" });
  await dies.assign(new Set([7, 8]));
  await all.sink.reached(40);
  await dies.stop();
  const sink = new FoldingSink();
  const survives = await started(t, { ...all, sink }, { ...options, hub: "hub-A" });
  await survives.assign(new Set([7]));
  log.lose();
  await survives.resume();
  await sink.reached(20);
  await survives.assign(new Set([7, 8]));
  await sink.reached(40);
});

test("ranges of lost documents aren't released, though the session that ends stores its cursors", async (t) => {
  const log = new LostLog(FIRST, at(1, 1));
  const watermarks = new Watermarks(new Metrics(), (written) => log.losses.survives(written));
  const all = setting();
  const back = Promise.withResolvers<void>();
  const create = all.cursors.create.bind(all.cursors);
  all.cursors.create = async (key, value) => {
    await back.promise;
    return create(key, value);
  };
  const events: CursorEvent[] = [];
  const onCursor = (event: CursorEvent): void => {
    events.push(event);
    watermarks.processed(event);
  };
  fill(all.raw, 20, 2);
  const pipeline = await started(t, all, { losses: log.losses, events: { onCursor } });
  await all.sink.reached(20);
  followLosses({ journal: log, losses: log.losses, pipelines: pipeline });
  log.lose();
  back.resolve();
  await pipeline.resume();
  assert.equal(events[0]?.docIncarnation, 1);
  watermarks.committed(at(2, 0));
  assert.equal(watermarks.takeMoved().size, 0);
  const isSavedAgain = (): boolean => events.some(({ docIncarnation }) => docIncarnation === 2);
  while (!isSavedAgain()) await new Promise(setImmediate);
  watermarks.committed(at(2, 100));
  assert.equal(watermarks.takeMoved().size, 1, "released once they are made again");
});
