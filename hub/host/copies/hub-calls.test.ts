import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { LinkLost } from "#hub/cluster/links/link.ts";
import { gatherWarnings, requestVersion, warnDeprecated } from "#hub/search/options/request-version.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import type { CopiesBehind } from "./copy-age.ts";
import { type AnsweringHost, HubAnswerer } from "./hub-answerer.ts";
import { PIECE_BYTES } from "./hub-call-messages.ts";
import { HubCaller } from "./hub-caller.ts";

type Answer = (message: { readonly data: Uint8Array }) => Promise<Uint8Array>;

/** NATS without a server: `lose` lets the answer to a message get lost. */
class Wire implements HubTransport {
  readonly #served = new Map<string, Answer>();
  lose: (message: number) => boolean = () => false;
  /** Messages whose link breaks `before` they arrive, or `after`. */
  broken: Readonly<Record<number, "before" | "after">> = {};
  /** Messages that arrive only when the hub, which is paused, resumes. */
  held: Readonly<Record<number, AppError>> = {};
  readonly #arriving: (() => void)[] = [];
  messages = 0;

  async request(
    subject: string,
    data: Uint8Array,
    { signal }: { readonly signal?: AbortSignal },
  ): Promise<Uint8Array> {
    const number = ++this.messages;
    const answer = this.#served.get(subject);
    if (this.broken[number] === "after") void answer?.({ data });
    if (this.broken[number] !== undefined) throw new LinkLost("cut");
    const lost = this.held[number];
    if (lost !== undefined) {
      this.#arriving.push(() => void answer?.({ data }));
      throw lost;
    }
    if (answer === undefined) throw new AppError("unavailable", "no responders");
    const { promise, reject } = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => reject(new AppError("cancelled", "cancelled")), { once: true });
    const found = await Promise.race([answer({ data }), promise]);
    if (this.lose(number)) throw new AppError("timeout", "no answer");
    return found;
  }

  goOn(): void {
    for (const arrive of this.#arriving.splice(0)) arrive();
  }

  serve(subject: string, answer: Answer): () => void {
    this.#served.set(subject, answer);
    return () => this.#served.delete(subject);
  }
}

type Call = AnsweringHost["call"];
/** Bytes of answers that the hub keeps. */
const KEPT_BYTES = 2 * 1_024 ** 2;

async function world(call: Call, clock = systemClock, behind?: CopiesBehind) {
  const wire = new Wire();
  const notified: unknown[] = [];
  const host: AnsweringHost = { call, notify: (...event) => void notified.push(event) };
  const metrics = new Metrics();
  const isLive = (hub: string): boolean => hub === "a";
  const answerer = new HubAnswerer({
    transport: wire,
    node: "b",
    hosts: [host],
    isLive,
    behind: () => behind,
    clock,
    metrics,
    maxKeptBytes: KEPT_BYTES,
  });
  await answerer.start();
  const caller = new HubCaller({ transport: wire, node: "a" });
  return { wire, caller, answerer, metrics, notified, thread: caller.thread({ hub: "b", thread: 0 }) };
}

describe("calls to threads of another hub", () => {
  test("value, parts, version and warnings travel there and back in one message", async () => {
    const { wire, thread } = await world(async (operation, value, { parts }) => {
      warnDeprecated("old");
      return { value: { operation, value, version: requestVersion() }, parts: [...parts, Buffer.from("x")] };
    });
    const warnings = new Set<string>();
    const answer = await gatherWarnings(warnings, 710, () =>
      thread.call("stats", { a: [1, null] }, { parts: [Buffer.from("given")] }),
    );
    assert.deepEqual(answer.value, { operation: "stats", value: { a: [1, null] }, version: 710 });
    assert.deepEqual(
      answer.parts.map((part) => Buffer.from(part).toString()),
      ["given", "x"],
    );
    assert.deepEqual([[...warnings], wire.messages], [["old"], 1]);
  });

  test("an answer says whether its hub's copies may have lacked writes when the call began", async () => {
    const answer = (): Promise<{ value: null; parts: [] }> => Promise.resolve({ value: null, parts: [] });
    const error = new AppError("unavailable", "still reading");
    const late = await world(answer, systemClock, { error, othersAnswer: true });
    const startMs = performance.now();
    await late.thread.call("count", {});
    assert.equal(late.caller.behind("b", startMs)?.message, "still reading");
    assert.equal(late.caller.behind("b", performance.now() + 1), undefined);
    const whole = await world(answer);
    await whole.thread.call("count", {});
    assert.equal(whole.caller.behind("b", startMs), undefined);
  });

  test("an error is thrown as the thread threw it", async () => {
    const { thread } = await world(() => Promise.reject(new AppError("parsing", "bad", { data: { at: 3 } })));
    await assert.rejects(thread.call("search", {}), { code: "parsing", message: "bad", data: { at: 3 } });
  });

  test("a long answer is read in pieces, and a piece that got lost again", async () => {
    const long = Buffer.alloc(2.5 * PIECE_BYTES, 7);
    const { wire, thread } = await world(() => Promise.resolve({ value: null, parts: [long] }));
    wire.lose = (message) => message === 2;
    const { parts } = await thread.call("search", {});
    assert.ok(long.equals(parts[0]!));
    assert.equal(wire.messages, 4);
  });

  test("a call whose link breaks is not begun again: its answer is asked for", async () => {
    const called: string[] = [];
    const slow = Promise.withResolvers<{ value: unknown; parts: [] }>();
    const { wire, thread } = await world((operation) => {
      called.push(operation);
      setImmediate(() => slow.resolve({ value: 5, parts: [] }));
      return slow.promise;
    });
    wire.broken = { 1: "after", 3: "before", 5: "before" };
    assert.equal((await thread.call("search", {})).value, 5);
    await assert.rejects(thread.call("count", {}), { code: "unavailable" });
    assert.deepEqual(called, ["search"]);
    wire.lose = () => true; // the hub is gone: another one is to answer soon
    await assert.rejects(thread.call("count", {}), { code: "unavailable" });
    assert.equal(wire.messages, 7); // the call, the question for its answer, and its end
  });

  for (const [name, error] of [
    ["whose link broke", new LinkLost("silent")],
    ["that got no answer in time", new AppError("timeout", "no answer")],
  ] as const)
    test(`a call ${name} isn't begun when it arrives after its caller gave it up`, async () => {
      const called: string[] = [];
      const { wire, thread } = await world((operation) => {
        called.push(operation);
        return Promise.resolve({ value: null, parts: [] });
      });
      wire.held = { 1: error };
      await assert.rejects(thread.call("openSnapshot", { id: "s" }), { code: "unavailable" });
      wire.goOn();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(wire.messages, 2);
      assert.deepEqual(called, []);
    });

  test("a slow answer is asked for again", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const slow = Promise.withResolvers<{ value: unknown; parts: [] }>();
    const { wire, thread } = await world(() => slow.promise);
    const answered = thread.call("search", {});
    for (const ms of [1_000, 1_000, 500]) {
      t.mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.resolve({ value: 5, parts: [] });
    assert.equal((await answered).value, 5);
    assert.equal(wire.messages, 3);
  });

  test("a cancelled call ends at once here and there; a late one is a timeout", async () => {
    const aborted: string[] = [];
    const { thread } = await world((operation, _value, { signal }) => {
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          aborted.push(operation);
          reject(new AppError("cancelled", "ended"));
        }),
      );
    });
    const abort = new AbortController();
    const cancelled = thread.call("search", {}, { signal: abort.signal });
    abort.abort();
    await assert.rejects(cancelled, { code: "cancelled" });
    await assert.rejects(thread.call("count", {}, { timeoutMs: 20 }), { code: "timeout" });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(aborted, ["search", "count"]);
  });

  test("a call that nobody waits for any more is ended", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const clock = new StillClock();
    let ended = false;
    const { wire, thread } = await world((_operation, _value, { signal }) => {
      signal.addEventListener("abort", () => {
        ended = true;
      });
      return new Promise(() => undefined);
    }, clock);
    wire.lose = () => true;
    wire.broken = { 2: "before" }; // it ends the call
    const lost = assert.rejects(thread.call("search", {}), { code: "unavailable" });
    await clock.advance(2_100);
    await lost;
    assert.equal(ended, false);
    await clock.advance(25_000);
    t.mock.timers.tick(2_000);
    assert.equal(ended, true);
  });

  test("answers that nobody fetches are kept up to a limit in bytes; beyond it calls are overloaded", async () => {
    const part = Buffer.alloc(KEPT_BYTES / 2 - 1_024);
    let late: (() => void) | undefined;
    const { wire, thread, metrics } = await world(async (operation) => {
      if (operation === "count") await new Promise<void>((resolve) => (late = resolve));
      return { value: null, parts: [part] };
    });
    const waiting = thread.call("count", {}); // under way before the limit is reached
    wire.lose = () => true;
    wire.broken = { 4: "before", 5: "before" }; // they end the calls
    const lose = (): Promise<void> => assert.rejects(thread.call("search", {}), { code: "unavailable" });
    await Promise.all([lose(), lose()]);
    wire.lose = () => false;
    late!();
    await assert.rejects(waiting, { code: "overloaded", message: /2 MiB of answers/ });
    assert.match(await metrics.text(), /calls_overloaded_total 1/);
  });

  test("an answer above the limit is given when no other one is kept", async () => {
    const long = Buffer.alloc(KEPT_BYTES + 1);
    const { thread, metrics } = await world(() => Promise.resolve({ value: null, parts: [long] }));
    for (let call = 0; call < 2; call++)
      assert.equal((await thread.call("search", {})).parts[0]!.length, long.length);
    assert.match(await metrics.text(), /calls_kept_bytes 0/);
  });

  test("a hub that isn't there, an unknown operation and a question that is too large are unavailable", async () => {
    const { caller, thread } = await world(() => Promise.resolve({ value: null, parts: [] }));
    await assert.rejects(caller.call({ hub: "c", thread: 0 }, "search", {}), { code: "unavailable" });
    await assert.rejects(caller.call({ hub: "b", thread: 4 }, "search", {}), { code: "unavailable" });
    await assert.rejects(caller.call({ hub: "b", thread: 0 }, "close", {}), { code: "unavailable" });
    const parts = [Buffer.alloc(8 * 1_024 ** 2)];
    await assert.rejects(thread.call("search", {}, { parts }), /too large for another hub/);
    assert.equal(caller.load("d"), 0);
  });

  test("a hub that doesn't answer counts as full until it does", async () => {
    const { wire, caller, thread } = await world(() => Promise.resolve({ value: null, parts: [] }));
    wire.lose = () => true;
    await assert.rejects(thread.call("search", {}), { code: "unavailable" });
    assert.ok(caller.load("b") >= 1_000);
    wire.lose = () => false;
    await thread.call("search", {});
    assert.equal(caller.load("b"), 0);
  });

  test("an event arrives", async () => {
    const { thread, notified } = await world(() => Promise.resolve({ value: null, parts: [] }));
    thread.notify("closeContexts", ["x"]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(notified, [["closeContexts", ["x"]]]);
  });
});
