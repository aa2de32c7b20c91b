import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { PartHealth } from "#hub/api/ports/administration.ts";
import type { Json } from "#test/support/api/search-routes.ts";
import { healthReportRoutes } from "./health-report.ts";

const NODE = {
  id: "n",
  name: "hub-1",
  attributes: {},
  host: "",
  httpAddress: "",
  transportAddress: "",
  master: true,
};
const INDEX = { name: "a", uuid: "u", settings: { numberOfShards: 2, numberOfReplicas: 1 } };

/** The report of a hub with such parts, whose indices have so many copies missing. */
function report(
  health: readonly PartHealth[],
  more: { isStopped?: boolean; having?: readonly string[] } = {},
): Json {
  const { isStopped = false, having = ["n"] } = more;
  const parts = {
    health: () => ({ status: "ok", parts: health }),
    cluster: { name: "c", nodes: () => [NODE], placement: () => ({ holders: ["n"], having }) },
    indices: {
      resolve: () => [INDEX],
      lifecycles: {
        all: () => ({ p: {} }),
        isStopped,
        fault: () => ({ uuid: "u", step: "rollover", reason: "full" }),
      },
    },
  } as unknown as ApiContext;
  const request = { path: {}, flag: () => undefined, integer: () => undefined } as unknown as ApiRequest;
  const answer = healthReportRoutes(parts)[0]!.handle(request) as { readonly json: unknown };
  return answer.json as Json;
}

const ok = (part: string): PartHealth => ({ part, level: "ok", reason: "" });

test("a part that isn't well gives its subject its colour, its symptom and what to do", () => {
  const body = report([
    ok("log"),
    { part: "disk", level: "failing", reason: "10 MiB are free" },
    ok("agents"),
  ]);
  assert.equal(body["status"], "red");
  const { disk, agents, master_is_stable: master } = body["indicators"]!;
  assert.deepEqual([disk!["status"], disk!["symptom"]], ["red", "10 MiB are free"]);
  assert.equal(disk!["details"]!["nodes_over_flood_stage_watermark"], 1);
  assert.deepEqual(disk!["impacts"]![0]!["impact_areas"], ["ingest", "search"]);
  assert.equal(disk!["diagnosis"]![0]!["cause"], "10 MiB are free");
  assert.deepEqual([master!["status"], agents!["status"]], ["green", "green"]);
});

for (const [having, status, primaries] of [
  [["n"], "yellow", 0],
  [[], "red", 2],
] as const)
  test(`shards with ${having.length} of two copies are ${status}, and their index is named`, () => {
    const shards = report([ok("shards")], { having })["indicators"]!["shards_availability"]!;
    assert.deepEqual([shards["status"], shards["details"]!["unassigned_primaries"]], [status, primaries]);
    assert.deepEqual(shards["diagnosis"]![0]!["affected_resources"], { indices: ["a"] });
  });

test("stopped policies and indices that are stuck are named", () => {
  const { ilm } = report([], { isStopped: true })["indicators"]!;
  assert.equal(ilm!["status"], "yellow");
  assert.deepEqual(ilm!["details"], { policies: 1, ilm_status: "STOPPED", stagnating_indices: 1 });
  assert.equal(ilm!["diagnosis"]!.length, 2);
});
