import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { LostData } from "./lost-data.ts";

test("an input that loses data fails until a minute after the last loss", async () => {
  const clock = new StillClock();
  const said: (string | null)[] = [];
  let dropped = 0;
  const lost = new LostData(
    {
      clock,
      id: "a",
      log: silentLogger(),
      dropped: (count) => (dropped += count),
      failing: (message) => said.push(message),
    },
    "datagrams",
  );
  lost.add("they can't be read");
  lost.add("they can't be read");
  await clock.advance(59_000);
  lost.add("the log takes them too slowly");
  await clock.advance(59_000);
  const messages = [
    "1 datagrams were dropped, as they can't be read",
    "3 datagrams were dropped, as the log takes them too slowly",
  ];
  assert.deepEqual(said, messages);
  await clock.advance(1_000);
  assert.deepEqual(said, [...messages, null]);
  assert.equal(dropped, 3);
  lost.add("they can't be read");
  await lost.stop();
  await clock.advance(60_000);
  assert.equal(said.length, 4);
});
