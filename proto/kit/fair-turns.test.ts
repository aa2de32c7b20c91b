import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AppError } from "./errors.ts";
import { FairTurns, type TurnLimits } from "./fair-turns.ts";

const LIMITS: TurnLimits = { turns: 4, waiting: 8, waitMs: 30_000, what: "searches" };
const OPEN = new AbortController().signal;

/** Requests that each hold their turn until they are ended. */
class Requests {
  readonly turns: FairTurns;
  /** In the order in which they began. */
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  /** Aborted after the test: the timer of a request that waits would hold the process for 30 s. */
  readonly #gone = new AbortController();

  constructor(t: TestContext, limits: Partial<TurnLimits> = {}) {
    t.after(() => this.#gone.abort());
    this.turns = new FairTurns({ ...LIMITS, ...limits });
  }

  /** Sends a request named by its owner and number: "ann 1". Resolves to how it ended. */
  send(name: string, signal = this.#gone.signal): Promise<string> {
    const run = async (): Promise<string> => {
      this.begun.push(name);
      await new Promise<void>((end) => this.#ends.set(name, end));
      return "done";
    };
    return this.turns
      .during(name.split(" ")[0]!, signal, run)
      .catch((error: unknown) => (error instanceof AppError ? error.code : String(error)));
  }

  sendAll(owner: string, count: number): Promise<string>[] {
    return Array.from({ length: count }, (_, at) => this.send(`${owner} ${at + 1}`));
  }

  /** Ends a request that runs; resolves when those that follow have begun. */
  async end(name: string): Promise<void> {
    const end = this.#ends.get(name);
    assert.ok(end, `${name} runs`);
    this.#ends.delete(name);
    end();
    await settled();
  }
}

/** Resolves when all that needs no event has happened. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

test("one owner alone gets half of the turns, in the order of its requests", async (t) => {
  const all = new Requests(t);
  void all.sendAll("ann", 4);
  await settled();
  assert.deepEqual(all.begun, ["ann 1", "ann 2"]);
  assert.deepEqual([all.turns.taken, all.turns.waiting], [2, 2]);
  await all.end("ann 2");
  await all.end("ann 1");
  assert.deepEqual(all.begun, ["ann 1", "ann 2", "ann 3", "ann 4"]);
  await all.end("ann 3");
  await all.end("ann 4");
  assert.deepEqual([all.turns.taken, all.turns.waiting], [0, 0]);
});

test("who has nothing under way begins at once while another has many waiting", async (t) => {
  const all = new Requests(t, { waiting: 1_000 });
  void all.sendAll("ann", 300);
  const bob = all.send("bob 1");
  await settled();
  assert.deepEqual(all.begun, ["ann 1", "ann 2", "bob 1"]);
  await all.end("bob 1");
  assert.equal(await bob, "done");
});

test("owners that wait get the turns round robin, whatever each has waiting", async (t) => {
  const all = new Requests(t, { turns: 1, waiting: 100 });
  void all.sendAll("ann", 5);
  void all.sendAll("bob", 2);
  void all.sendAll("cid", 2);
  await settled();
  for (let done = 0; done < 9; done++) await all.end(all.begun.at(-1)!);
  assert.deepEqual(all.begun, [
    "ann 1",
    "ann 2",
    "bob 1",
    "cid 1",
    "ann 3",
    "bob 2",
    "cid 2",
    "ann 4",
    "ann 5",
  ]);
});

test("a request beyond those that may wait is refused with a time to come back, of its owner alone", async (t) => {
  const all = new Requests(t);
  const sent = all.sendAll("ann", 8);
  assert.deepEqual(await Promise.all(sent.slice(6)), ["overloaded", "overloaded"]);
  assert.equal(all.turns.refused, 2);
  const refused = all.turns.during("ann", OPEN, () => Promise.resolve());
  await assert.rejects(
    refused,
    (error: AppError) => error.status === 429 && error.data["retryAfterSeconds"] === 1,
  );
  void all.send("bob 1");
  await settled();
  assert.deepEqual(all.begun, ["ann 1", "ann 2", "bob 1"]);
});

test("a request whose client has gone waits no longer and takes no turn", async (t) => {
  const all = new Requests(t, { turns: 1 });
  const gone = new AbortController();
  void all.send("ann 1");
  const left = all.send("bob 1", gone.signal);
  void all.send("cid 1");
  gone.abort();
  assert.equal(await left, "cancelled");
  assert.equal(all.turns.waiting, 1);
  await all.end("ann 1");
  assert.deepEqual(all.begun, ["ann 1", "cid 1"]);
  assert.equal(await all.send("dan 1", gone.signal), "cancelled");
});

test("a request that has waited too long is refused", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const all = new Requests(t, { turns: 1 });
  void all.send("ann 1");
  const late = all.send("bob 1");
  t.mock.timers.tick(LIMITS.waitMs);
  assert.equal(await late, "overloaded");
  assert.deepEqual([all.turns.waiting, all.turns.refused], [0, 1]);
  await all.end("ann 1");
  assert.deepEqual([all.begun, all.turns.taken], [["ann 1"], 0]);
});

test("a turn that is left for a while is another's, and taken again in turn", async (t) => {
  const { turns } = new Requests(t, { turns: 1 });
  const [ann, bob] = [turns.turn("ann", OPEN), turns.turn("bob", OPEN)];
  await ann.take();
  await ann.take();
  const taken = bob.take();
  assert.equal(turns.waiting, 1);
  ann.leave();
  ann.leave();
  await taken;
  const again = ann.take();
  assert.deepEqual([turns.taken, turns.waiting], [1, 1]);
  bob.leave();
  await again;
  ann.leave();
  assert.deepEqual([turns.taken, turns.waiting], [0, 0]);
});

test("what fails gives its turn back", async () => {
  const turns = new FairTurns({ ...LIMITS, turns: 1 });
  await assert.rejects(
    turns.during("ann", OPEN, () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(turns.taken, 0);
});

test("a request may wait for a shorter time than all others", async () => {
  const turns = new FairTurns({ ...LIMITS, turns: 1 });
  const held = turns.turn("ann", OPEN);
  await held.take();
  const started = performance.now();
  await assert.rejects(turns.turn("bob", OPEN).take(20), { code: "overloaded", message: /waited 20 ms/ });
  assert.ok(performance.now() - started < LIMITS.waitMs);
  assert.equal(turns.waiting, 0);
  held.leave();
});
