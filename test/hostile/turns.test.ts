/**
 * One principal's flood of searches or bulk requests beside another one's few: those of the second are answered while most of
 * the flood still waits. What counts is the order of the answers, not their times.
 */

import assert from "node:assert/strict";
import { Agent, request } from "node:https";
import { after, before, suite, test } from "node:test";
import { until } from "#test/harness/until.ts";
import { type KeyRole, SecuredHub } from "./secured-hub.ts";

const DOCUMENTS = 4_000;
/** Requests that the flood has under way at any time: several times the turns that one principal gets. */
const LANES = 200;
/** Of them so many wait at least: far more than are under way. */
const WAITING = 140;
const FEW = 8;

interface Asked {
  readonly path: string;
  /** Another body each time: nothing is answered from a cache. */
  readonly body: (number: number) => string;
}

/** What a principal sends again and again. */
class Flood {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: LANES });
  readonly #target: SecuredHub;
  readonly #role: KeyRole;
  #isOver = false;
  #sent = 0;
  #lanes: Promise<void> = Promise.resolve();
  answered = 0;
  readonly statuses = new Set<number>();

  constructor(target: SecuredHub, role: KeyRole) {
    this.#target = target;
    this.#role = role;
  }

  /** Opens all connections, then sends. */
  async begin(asked: Asked): Promise<void> {
    await this.#each(async () => void (await this.#send("/", "", "GET")));
    this.#lanes = this.#each(async () => {
      while (!this.#isOver) {
        this.statuses.add(await this.#send(asked.path, asked.body(++this.#sent)));
        this.answered++;
      }
    });
    this.#lanes.catch(() => undefined);
  }

  /** Leaves without the answers. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#agent.destroy();
    await this.#lanes.catch(() => undefined);
  }

  async #each(lane: () => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  #send(path: string, body: string, method = "POST"): Promise<number> {
    return new Promise((done, fail) => {
      const headers = {
        authorization: this.#target.keys[this.#role],
        ...(body !== "" && { "content-type": "application/json" }),
      };
      const sent = request(this.#target.hub.searchUrl + path, { method, headers, agent: this.#agent });
      sent.on("error", fail);
      sent.on("response", (answer) => {
        answer.resume();
        answer.on("end", () => done(answer.statusCode ?? 0));
      });
      sent.end(body);
    });
  }
}

const terms = (number: number): string =>
  JSON.stringify({
    size: 0,
    query: { range: { n: { gte: (number % 997) / 100 } } },
    aggs: {
      t: {
        terms: { field: "k.keyword", size: 100 },
        aggs: { c: { cardinality: { field: "n" } } },
      },
    },
  });
const bulk = (number: number): string => lines("flooded", number * 200, number * 200 + 200);

const KINDS: readonly (readonly [kind: "searches" | "bulks", asked: Asked, other: KeyRole])[] = [
  ["searches", { path: "/some/_search", body: terms }, "editor"],
  ["bulks", { path: "/_bulk", body: bulk }, "admin"],
];

suite("turns", () => {
  let target: SecuredHub;
  before(async () => {
    target = await SecuredHub.start();
    const body = lines("some", 0, DOCUMENTS);
    const written = await target.request("/_bulk?refresh=true", { method: "POST", role: "admin", body });
    assert.match(written.text, /"errors":false/);
  });
  after(() => target.close());

  for (const [kind, asked, other] of KINDS) {
    test(`${kind} of a principal are answered while another one has hundreds waiting`, async (t) => {
      const flood = new Flood(target, kind === "searches" ? "viewer" : "ingest");
      try {
        await flood.begin(asked);
        await until(`${WAITING} ${kind} that wait`, async () => (await waiting(kind)) >= WAITING);
        const passed: number[] = [];
        for (let count = 0; count < FEW; count++) {
          const before = flood.answered;
          const body = asked.body(1_000_000 + count);
          const answer = await target.request(asked.path, { method: "POST", role: other, body });
          assert.equal(answer.status, 200, answer.text.slice(0, 300));
          passed.push(flood.answered - before);
        }
        t.diagnostic(
          `answers to the flood meanwhile: ${passed.join(", ")}; its statuses: ${[...flood.statuses].join()}`,
        );
        // One that has waited too long is refused.
        assert.deepEqual(
          [...flood.statuses].filter((status) => ![200, 429].includes(status)),
          [],
        );
        const usual = passed.toSorted((a, b) => a - b)[FEW / 2]!;
        assert.ok(usual < WAITING, `${usual} requests of the other principal went first`);
      } finally {
        await flood.leave();
      }
      await until(`no ${kind} that wait for a client that has left`, async () => (await waiting(kind)) === 0);
    });
  }

  async function waiting(kind: string): Promise<number> {
    const { text } = await target.request("/metrics", { role: "admin", dashboard: true });
    return Number(
      new RegExp(`^tailrace_api_turns\\{of="${kind}",state="waiting"\\} (\\d+)$`, "m").exec(text)?.[1],
    );
  }
});

function lines(index: string, first: number, end: number): string {
  let text = "";
  for (let at = first; at < end; at++)
    text += `{"index":{"_index":"${index}"}}\n{"n":${at % 100},"k":"k${at % 5_000}","text":"line ${at}"}\n`;
  return text;
}
