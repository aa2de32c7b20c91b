import assert from "node:assert/strict";
import { test } from "node:test";
import { SlowQueries } from "#hub/api/context/slow-queries.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { ApiResponse } from "#hub/api/http/route.ts";
import type { HubStatus } from "#hub/api/ports/status.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { hubRoutes } from "./status.ts";

const REPORT = {
  status: "failing",
  parts: [{ part: "log", level: "failing", reason: "disk full" }],
} as const;

async function health(showsParts: boolean, isReady: boolean): Promise<ApiResponse> {
  const status: HubStatus = {
    status: () => Promise.resolve({}),
    agents: () => [],
    agent: () => undefined,
    ready: () => isReady,
    health: () => REPORT,
  };
  const routes = hubRoutes({
    status,
    metrics: new Metrics(),
    slowQueries: new SlowQueries(systemClock, silentLogger(), 1_000),
    indices: { get: () => undefined },
    describe: () => ({}),
    showsParts,
  });
  const route = routes.find(({ paths }) => paths.includes("/health"));
  assert.equal(route?.caller, "anybody");
  return await route.handle({} as ApiRequest);
}

test("/health without a sign-in shows the parts of the hub only where sign-in is off", async () => {
  assert.deepEqual((await health(true, true)).json, REPORT);
  assert.deepEqual((await health(false, true)).json, { status: "failing" });
  assert.equal((await health(false, false)).status, 503);
});
