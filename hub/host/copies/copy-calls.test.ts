import assert from "node:assert/strict";
import { test } from "node:test";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { type CopyCall, CopyCalls } from "./copy-calls.ts";

const REFRESH: CopyCall = { operation: "refresh", indices: [], after: { incarnation: 1, sequence: 1 } };

/** Returns calls to one other hub, and what they logged. */
function callsTo(answer: () => Promise<Uint8Array>): { calls: CopyCalls; failures: AppError[] } {
  const failures: AppError[] = [];
  const log = { warn: ({ err }: { err: AppError }) => void failures.push(err) } as unknown as Logger;
  const transport = { request: answer } as unknown as HubTransport;
  const others = () => [{ id: "b", revision: 1 }];
  return { calls: new CopyCalls({ transport, node: "a", others, log, metrics: new Metrics() }), failures };
}

/** Returns the answer of a hub whose own call fails with `error`. */
async function failing(error: unknown): Promise<Uint8Array> {
  let serve: ((message: { data: Uint8Array }) => Promise<Uint8Array>) | undefined;
  const transport = {
    serve: (_subject: string, answer: typeof serve) => {
      serve = answer;
      return () => undefined;
    },
  } as unknown as HubTransport;
  const log = {} as Logger;
  const calls = new CopyCalls({ transport, node: "b", others: () => [], log, metrics: new Metrics() });
  calls.serve(() => Promise.reject(error));
  return serve!({ data: Buffer.from(JSON.stringify(REFRESH)) });
}

for (const [code, message] of [
  ["timeout", "reach took longer than 5000 ms"],
  ["unavailable", "the hub is stopping"],
] as const)
  test(`a copy's failure carries the code ${code}, counts, and leaves the hub to the next call`, async () => {
    let asked = 0;
    const { calls, failures } = callsTo(() => {
      asked++;
      return failing(new AppError(code, message));
    });
    assert.equal(await calls.everywhere(REFRESH, 1_000), 1);
    assert.equal(await calls.everywhere(REFRESH, 1_000), 1);
    assert.equal(asked, 2, "it answered: it doesn't stand still");
    assert.deepEqual(
      failures.map((failure) => [failure.code, failure.message]),
      [
        [code, message],
        [code, message],
      ],
    );
  });

test("a failure without a code, as hubs of earlier versions send it, is an internal one with its text", async () => {
  const { calls, failures } = callsTo(() => Promise.resolve(Buffer.from('{"error":"disk full"}')));
  assert.equal(await calls.everywhere(REFRESH, 1_000), 1);
  assert.deepEqual([failures[0]?.code, failures[0]?.message], ["internal", "disk full"]);
});
