import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { loadHubSettings } from "./hub-settings.ts";
import { advertisedAddresses } from "./reach-file.ts";

const LOCAL = { http: "https://127.0.0.1:9200", dashboard: "https://127.0.0.1:5601" };

for (const [overrides, http, dashboard] of [
  [[], LOCAL.http, LOCAL.dashboard],
  [["network.host=0.0.0.0"], `https://${hostname()}:9200`, `https://${hostname()}:5601`],
  [["dashboard.host='::'"], LOCAL.http, `https://${hostname()}:5601`],
  [
    ["network.host=0.0.0.0", "public.url=https://logs.example/"],
    "https://logs.example:9200",
    "https://logs.example",
  ],
  [["public.url=https://logs.example"], LOCAL.http, "https://logs.example"],
] as const) {
  test(`people find a hub with ${overrides.join(" ") || "the defaults"} at ${dashboard}`, () => {
    const settings = loadHubSettings({ file: undefined, overrides }, {});
    assert.deepEqual(advertisedAddresses(settings, LOCAL), { http, dashboard });
  });
}
