import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Method } from "#hub/api/http/request.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { restActionOf } from "./rest-actions.ts";

const hub = new FakeHub();
before(() => hub.start());
after(() => hub.stop());

/** Begin or end what Elasticsearch 6.5 doesn't have, or has without a name of its own. */
const OTHERS =
  /loki|_plugins|point_in_time|_health_report|license|_authenticate|component_templates|\/_data_stream|hot_?threads/;

test("each route of 6.5 has the name of its action", async () => {
  const response = await fetch(`${hub.server.addresses.dashboard}/api/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, { summary: string }>> };
  const named = new Map<string, boolean>();
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith("/es/") || OTHERS.test(path)) continue;
    for (const [method, { summary }] of Object.entries(methods)) {
      if (summary.startsWith("Not offered")) continue;
      const name = restActionOf(method.toUpperCase() as Method, { paths: [path.slice("/es".length)] });
      const key = `${method} ${summary}`;
      named.set(key, name !== undefined || named.get(key) === true);
    }
  }
  assert.ok(named.size > 120);
  const unnamed = [...named].filter(([, isNamed]) => !isNamed);
  assert.deepEqual(unnamed, []);
});
