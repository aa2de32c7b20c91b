/** `tailrace-hub import kibana` into a running hub, from a file and from Kibana's interface; settings made by `import config`. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { type ImportOutcome, runImportCommand } from "#hub/commands/import.ts";
import { parseImportCommand } from "#hub/commands/import-arguments.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

const AGENT = resolve(import.meta.dirname, "../../../agent/bin/tailrace-agent");

const OBJECTS = [
  { id: "p", type: "index-pattern", attributes: { title: "shop-*" } },
  {
    id: "v",
    type: "visualization",
    attributes: {
      title: "Lines",
      visState: JSON.stringify({ type: "metric", aggs: [{ type: "count", schema: "metric" }] }),
      kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify({ index: "p" }) },
    },
  },
  {
    id: "d",
    type: "dashboard",
    attributes: {
      title: "Shop",
      panelsJSON: JSON.stringify([{ type: "visualization", id: "v", gridData: { x: 0, y: 0, w: 48, h: 8 } }]),
    },
  },
];

interface Saved {
  readonly title: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

suite("import kibana", () => {
  const workspace = new Workspace();
  let hub: TestHub;

  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub") });
    workspace.defer(() => hub.destroy());
  });
  after(() => workspace.close());

  function run(...args: readonly string[]): Promise<ImportOutcome> {
    const place = ["-E", `dashboard.port=${new URL(hub.dashboardUrl).port}`];
    const { signal } = new AbortController();
    const progress = { write: () => undefined };
    return runImportCommand(parseImportCommand([...args, ...place]), { env: {}, progress, signal });
  }

  const saved = (type: string, id: string): Promise<Saved> =>
    ask<Saved>("GET", `${hub.dashboardUrl}/api/saved/${type}/${id}`);

  test("an export is on the page Dashboards", async () => {
    const file = workspace.path("export.ndjson");
    writeFileSync(file, OBJECTS.map((each) => JSON.stringify(each)).join("\n"));
    const { output, isOk } = await run("kibana", file);
    assert.equal(output, "visualisation Lines: imported\ndashboard Shop: imported\n");
    assert.equal(isOk, true);
    assert.equal((await saved("visualisation", "v")).attributes["parameters"], "index=shop-*&chart=number");
    const { title, attributes } = await saved("dashboard", "d");
    assert.equal(title, "Shop");
    assert.deepEqual(attributes["panels"], [{ id: "v", width: 12, height: "low" }]);
  });

  test("a running Kibana is asked for its objects, again without harm", async () => {
    const kibana = createServer((request, response) => {
      const type = new URL(request.url ?? "", "http://kibana").searchParams.get("type");
      const isAllowed = request.headers["kbn-xsrf"] !== undefined && request.url?.startsWith("/base/api/");
      response.writeHead(isAllowed ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify({ saved_objects: OBJECTS.filter((each) => each.type === type) }));
    }).listen(0, "127.0.0.1");
    workspace.defer(() => void kibana.close());
    await once(kibana, "listening");
    const { port } = kibana.address() as AddressInfo;
    const { output } = await run("kibana", `http://127.0.0.1:${port}/base`);
    assert.equal(output, "visualisation Lines: imported\ndashboard Shop: imported\n");
  });

  test("the agent takes the settings that are made of Filebeat's and Promtail's", async () => {
    const filebeat = `filebeat.inputs: [{type: log, paths: [/var/log/a.log], multiline.pattern: '^x', multiline.match: after}, {type: syslog, protocol.udp.host: "127.0.0.1:5140"}]`;
    const promtail =
      "scrape_configs: [{job_name: a, static_configs: [{labels: {job: a, __path__: /var/log/a.log}}], pipeline_stages: [{cri: {}}]}]";
    for (const text of [filebeat, promtail]) {
      const [from, made] = [workspace.path("from.yml"), workspace.path("agent.yml")];
      writeFileSync(from, text);
      const { output } = await run("config", from);
      writeFileSync(made, output);
      const checked = await promisify(execFile)(AGENT, [
        "test",
        "config",
        "-c",
        made,
        "--strict.perms=false",
      ]);
      assert.match(checked.stdout, /settings are right/);
    }
  });
});
