import assert from "node:assert/strict";
import { after, before, suite, type TestContext, test } from "node:test";
import {
  endFirst,
  measureContention,
  nextTurn,
  noteWriting,
  searchRestMs,
  sliceMs,
  type Turn,
  turnMs,
} from "./turns.ts";

test("searches that paused continue in their order, one in each turn of the event loop", async () => {
  const events: string[] = [];
  const search = async (name: string): Promise<void> => {
    for (let slice = 0; slice < 3; slice++) {
      await nextTurn();
      events.push(name);
    }
  };
  let isOver = false;
  const others = (): void => {
    if (isOver) return;
    events.push("-");
    setImmediate(others);
  };
  const searches = Promise.all(["a", "b", "c"].map(search));
  setImmediate(others);
  await searches;
  isOver = true;
  assert.equal(events.filter((each) => each !== "-").join(""), "abcabcabc");
  assert.match(events.join(""), /^(?:\w-)+\w-?$/, "other work comes between any two slices");
});

test("a search that pauses alone continues", async () => {
  for (let times = 0; times < 3; times++) await nextTurn();
});

/** The names of the waiting, in the order in which they continue. */
async function orderOf(turns: Readonly<Record<string, Partial<Turn>>>): Promise<string> {
  const order: string[] = [];
  const wait = async ([name, turn]: [string, Partial<Turn>]): Promise<void> => {
    await nextTurn({ usedMs: 0, isOver: false, ...turn });
    order.push(name);
  };
  await Promise.all(Object.entries(turns).map(wait));
  return order.join("");
}

test("a search that has used little continues before those that have used much", async () => {
  const order = await orderOf({ a: { usedMs: 900 }, b: { usedMs: 20 }, c: { usedMs: 3 } });
  assert.ok(order.indexOf("c") < order.indexOf("b"), order);
});

test("a search that has used much isn't kept waiting by ever new ones", async () => {
  let isDone = false;
  const long = orderOf({ long: { usedMs: 9_000 } }).then(() => {
    isDone = true;
  });
  for (let times = 0; times < 5; times++) await Promise.all([nextTurn(), nextTurn()]);
  assert.ok(isDone);
  await long;
});

test("a search that was cancelled ends first", async () => {
  const order = await orderOf({ a: { usedMs: 1 }, b: { usedMs: 2 }, c: { usedMs: 900, isOver: true } });
  assert.equal(order[0], "c");
});

test("slices are short while documents are written", () => {
  noteWriting(1_000);
  assert.equal(sliceMs(1_100), 2);
  assert.equal(sliceMs(1_600), 8);
  noteWriting(Number.NEGATIVE_INFINITY);
});

test("searches of one turn share its time; the next turn begins anew", async () => {
  assert.equal(turnMs(1_000), 0);
  assert.equal(turnMs(1_007), 7);
  // Both begin after the end of the turn.
  await nextTurn();
  await nextTurn();
  assert.equal(turnMs(2_000), 0);
});

test("while memory is tight the search that has used most continues first, but for short ones", async (context) => {
  context.after(() => endFirst(false));
  endFirst(true);
  const order = await orderOf({ a: { usedMs: 70 }, b: { usedMs: 900 }, c: { usedMs: 400 } });
  assert.ok(order.indexOf("b") < order.indexOf("c"), order);
  const withShort = await orderOf({ a: { usedMs: 900 }, b: { usedMs: 400 }, short: { usedMs: 3 } });
  assert.ok(withShort.indexOf("short") < withShort.indexOf("b"), withShort);
});

/** Time of the thread, which passes only where a search takes it, and while nobody does. */
class ThreadTime {
  /** Goes on from test to test, and stays behind the clock by which later searches of this process rest. */
  static #nowMs = performance.now() - 60_000;
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
    context.mock.timers.enable({ apis: ["setTimeout"] });
    context.mock.method(performance, "now", () => ThreadTime.#nowMs);
  }

  get nowMs(): number {
    return ThreadTime.#nowMs;
  }

  pass(ms: number): void {
    ThreadTime.#nowMs += ms;
    this.#context.mock.timers.tick(ms);
  }

  /** Lets time pass until `work` is done. */
  async during(...work: readonly Promise<unknown>[]): Promise<void> {
    let isDone = false;
    const done = Promise.all(work).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise(setImmediate);
      this.pass(IDLE_MS);
    }
    await done;
  }
}

/** Time that passes in a turn of the event loop besides what searches take, ms. */
const IDLE_MS = 0.125;

/** A search that uses the thread in slices. */
class Slices implements Turn {
  readonly isOver = false;
  usedMs: number;
  readonly #time: ThreadTime;

  constructor(time: ThreadTime, usedMs: number) {
    this.#time = time;
    this.usedMs = usedMs;
  }

  /** Waits for its turn, takes so long, and again. */
  async take(times: number, ms: number): Promise<void> {
    for (; times > 0; times--) {
      await nextTurn(this);
      this.#time.pass(ms);
      this.usedMs += ms;
    }
    await nextTurn(this);
  }
}

/** Takes this many slices of a search that has used so much; returns how many rests there were. */
async function restsOf(context: TestContext, usedMs: number, slices: number, sliceMs = 3): Promise<number> {
  const time = new ThreadTime(context);
  const timer = context.mock.method(globalThis, "setTimeout");
  await time.during(new Slices(time, usedMs).take(slices, sliceMs));
  return timer.mock.callCount();
}

suite("while documents are written and processors are short", () => {
  before(() => {
    noteWriting(Number.MAX_SAFE_INTEGER);
    measureContention(() => true);
  });
  after(() => {
    noteWriting(Number.NEGATIVE_INFINITY);
    measureContention(() => false);
  });

  test("a search that has used much rests after each slice", async (context) => {
    const rests = await restsOf(context, 900, 10);
    assert.equal(rests, 10);
  });

  test("slices that documents ended early are rested from together", async (context) => {
    const rests = await restsOf(context, 900, 10, 0.5);
    assert.equal(rests, 2);
  });

  test("a search that has used little doesn't", async (context) => {
    assert.equal(await restsOf(context, 20, 10), 0);
  });

  test("several that have used little each rest, as they have used much together", async (context) => {
    const time = new ThreadTime(context);
    const timer = context.mock.method(globalThis, "setTimeout");
    await time.during(...Array.from({ length: 8 }, () => new Slices(time, 40).take(3, 3)));
    assert.ok(timer.mock.callCount() >= 3, String(timer.mock.callCount()));
  });

  test("one that has used little goes while others rest", async (context) => {
    const order: string[] = [];
    const time = new ThreadTime(context);
    const long = new Slices(time, 900);
    await nextTurn(long);
    time.pass(10);
    long.usedMs += 10;
    const goesOn = nextTurn(long).then(() => order.push("long"));
    await nextTurn().then(() => order.push("short"));
    await time.during(goesOn);
    assert.deepEqual(order, ["short", "long"]);
  });

  test("one that has used much gets about as much as it rests while short ones come and go", async (context) => {
    const time = new ThreadTime(context);
    const long = new Slices(time, 900);
    const endMs = time.nowMs + 300;
    const short = async (): Promise<void> => {
      while (time.nowMs < endMs) {
        await nextTurn();
        await new Promise((resolve) => setTimeout(resolve, 3)); // a client that thinks
      }
    };
    const longOne = async (): Promise<void> => {
      while (time.nowMs < endMs) await long.take(1, 2);
    };
    await time.during(short(), longOne());
    const share = (long.usedMs - 900) / 300;
    assert.ok(share > 0.3 && share <= 0.5, `${share} of the time`);
  });

  test("several that have used much get a quarter of the thread together", async (context) => {
    const time = new ThreadTime(context);
    const timer = context.mock.method(globalThis, "setTimeout");
    const searches = [new Slices(time, 900), new Slices(time, 900)];
    const startMs = time.nowMs;
    const restedMs = searchRestMs();
    await time.during(...searches.map((search) => search.take(10, 2)));
    assert.equal(timer.mock.callCount(), 20, "a rest after each slice");
    const share = (20 * 2) / (time.nowMs - startMs);
    assert.ok(share > 0.2 && share <= 0.25, `${share} of the time`);
    assert.equal(searchRestMs() - restedMs, 3 * 20 * 2, "three times as long as the slices");
  });

  test("a single one among short ones has as much as alone", async (context) => {
    const order: number[] = [];
    const time = new ThreadTime(context);
    const timer = context.mock.method(globalThis, "setTimeout", (wake: () => void, ms: number) => {
      order.push(ms);
      return setImmediate(wake);
    });
    await time.during(new Slices(time, 900).take(4, 3), new Slices(time, 1).take(4, 3));
    assert.ok(timer.mock.callCount() > 0);
    assert.ok(
      order.every((ms) => ms <= 6),
      order.join(" "),
    );
  });

  test("one that has used much goes on although short ones follow one another", async (context) => {
    const time = new ThreadTime(context);
    let hasGone = false;
    const long = new Slices(time, 900).take(2, 3).then(() => {
      hasGone = true;
    });
    const followed = async (): Promise<void> => {
      for (let turns = 0; !hasGone; turns++) {
        assert.ok(turns < 1_000);
        await nextTurn();
      }
    };
    await time.during(long, followed(), followed());
  });

  test("nobody rests once none is written", async (context) => {
    noteWriting(Number.NEGATIVE_INFINITY);
    assert.equal(await restsOf(context, 900, 10), 0);
  });
});
