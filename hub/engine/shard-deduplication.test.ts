import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { tailrace } from "#proto/messages.ts";
import { contents, INDEX, openShard, operation, withFolder } from "#test/support/engine/shard.ts";

suite("repeats", () => {
  /** A message of the pipeline: event offsets of one file from one RAW message. */
  function message(
    raw: number,
    offsets: readonly number[],
    more: Partial<tailrace.IDocBatch> = {},
  ): tailrace.IDocBatch {
    return {
      rawIncarnation: 1,
      rawPartition: 3,
      rawSequence: raw,
      lenient: true,
      sources: [{ key: "agent/file/0", from: offsets[0]!, to: offsets.at(-1)! + 10 }],
      operations: offsets.map((offset, ordinal) =>
        operation(INDEX, `e${offset}`, { n: offset }, { ordinal, sourceIndex: 1, offset, appendOnly: true }),
      ),
      ...more,
    };
  }

  const stories: readonly (readonly [
    name: string,
    messages: readonly tailrace.IDocBatch[],
    events: readonly number[],
  ])[] = [
    ["a message published twice counts once", [message(1, [0, 10]), message(1, [0, 10])], [0, 10]],
    [
      "an older message that comes again counts no more",
      [message(1, [0]), message(2, [10]), message(1, [0])],
      [0, 10],
    ],
    [
      "a message's results in two parts are both taken",
      [
        message(1, [0, 10, 20], { operations: message(1, [0, 10, 20]).operations!.slice(0, 2) }),
        message(1, [0, 10, 20], { operations: message(1, [0, 10, 20]).operations!.slice(1) }),
      ],
      [0, 10, 20],
    ],
    [
      "a file sent again in other pieces after the log was lost gives only what is missing",
      [
        message(5, [0, 10, 20]),
        message(6, [30]),
        message(1, [0, 10], { rawIncarnation: 2 }),
        message(2, [20, 30, 40], { rawIncarnation: 2 }),
      ],
      [0, 10, 20, 30, 40],
    ],
    [
      "the document API isn't filtered",
      [message(1, [0]), { operations: [operation(INDEX, "e0", {}), operation(INDEX, "e0", {})] }],
      [0],
    ],
  ];
  for (const [name, messages, events] of stories) {
    for (const reopened of [false, true]) {
      test(`${name}${reopened ? ", across restarts" : ""}`, () =>
        withFolder((folder) => {
          let shard = openShard(folder);
          for (const [index, batch] of messages.entries()) {
            shard.apply(batch, { incarnation: 1, sequence: index + 1 });
            if (!reopened) continue;
            shard.commit();
            shard.close();
            shard = openShard(folder);
          }
          shard.refresh();
          assert.deepEqual(
            [...contents(shard.searcher()).keys()].sort(),
            events.map((offset) => `e${offset}`).sort(),
          );
          shard.close();
        }));
    }
  }

  test("positions in RAW are returned for the check of the log", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      shard.apply(message(7, [0]), { incarnation: 1, sequence: 1 });
      assert.deepEqual(shard.rawPositions(), [{ incarnation: 1, sequence: 7 }]);
      shard.close();
    }));
});
