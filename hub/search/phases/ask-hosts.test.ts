import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { askHosts } from "./ask-hosts.ts";

const TARGETS = [{ shards: [] }, { shards: [] }];

/** Fails once `signal` is aborted, as calls to hosts do. */
function untilCancelled(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new AppError("cancelled", "cancelled"));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return promise;
}

for (const [when, abort] of [
  ["while hosts are asked", (control: AbortController) => queueMicrotask(() => control.abort())],
  ["before", (control: AbortController) => control.abort()],
] as const)
  test(`what hosts are asked ends with a search that is cancelled ${when}`, async () => {
    const control = new AbortController();
    abort(control);
    const asked = askHosts(TARGETS, control.signal, {
      ask: (_target, signal) => untilCancelled(signal),
      unanswered: () => assert.fail("a cancelled call isn't a host's fault"),
    });
    await assert.rejects(asked, { code: "cancelled" });
  });

test("what a host says of the request ends the others, and nothing waits for the search's end afterwards", async () => {
  const { signal } = new AbortController();
  const asked = askHosts(TARGETS, signal, {
    ask: (target, either) =>
      target === TARGETS[0] ? untilCancelled(either) : Promise.reject(new AppError("parsing", "bad")),
    unanswered: () => assert.fail("each host answered"),
  });
  await assert.rejects(asked, { code: "parsing" });
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
