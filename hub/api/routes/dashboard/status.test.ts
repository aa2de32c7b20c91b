import assert from "node:assert/strict";
import { test } from "node:test";
import { SlowQueries } from "#hub/api/context/slow-queries.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { ApiResponse } from "#hub/api/http/route.ts";
import type { HubStatus } from "#hub/api/ports/administration.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { hubRoutes } from "./status.ts";

const REPORT = {
  status: "failing",
  parts: [{ part: "log", level: "failing", reason: "disk full" }],
} as const;

function routesOf(showsParts: boolean, isReady: boolean) {
  const status: HubStatus = {
    status: () => Promise.resolve({}),
    agents: () => [],
    agent: () => undefined,
    forgetAgent: (id) => id === "known",
    ready: () => isReady,
    health: () => REPORT,
  };
  return hubRoutes({
    status,
    metrics: new Metrics(),
    slowQueries: new SlowQueries(systemClock, silentLogger(), 1_000),
    indices: { get: () => undefined },
    describe: () => ({}),
    showsParts,
  });
}

async function health(showsParts: boolean, isReady: boolean): Promise<ApiResponse> {
  const route = routesOf(showsParts, isReady).find(({ paths }) => paths.includes("/health"));
  assert.equal(route?.caller, "anybody");
  return await route.handle({} as ApiRequest);
}

test("/health without a sign-in shows the parts of the hub only where sign-in is off", async () => {
  assert.deepEqual((await health(true, true)).json, REPORT);
  assert.deepEqual((await health(false, true)).json, { status: "failing" });
  assert.equal((await health(false, false)).status, 503);
});

test("an administrator forgets an agent; an unknown one is not found", async () => {
  const route = routesOf(true, true).find(({ methods }) => methods.includes("DELETE"))!;
  const forget = async (id: string) => route.handle({ segment: () => id } as unknown as ApiRequest);
  assert.equal(route.action, "administer");
  assert.equal((await forget("known")).status, 204);
  await assert.rejects(forget("other"), { code: "not_found" });
});
