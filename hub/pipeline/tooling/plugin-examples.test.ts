import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pluginKinds } from "./plugin-reference.ts";
import { type EventJson, inspectPipeline, runSamples } from "./simulate.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/plugin-examples.md"), "utf8");
const EXAMPLE = /^## (\w+ \w+)\n\n```conf\n([\s\S]*?)^```\n(?:\n```json\n(.*)\n(.*)\n```)?/gm;
/** What the check finds: what to write instead, and a file of the reader's machine. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  "filter ruby": /js/,
  "codec avro": /no such file.*order\.avsc/,
  "filter geoip": /GeoLite2-City\.mmdb isn't there/,
};

const examples = [...PAGE.matchAll(EXAMPLE)].map(([, name = "", text = "", event, after]) => ({
  name,
  files: [{ path: `${name}.conf`, text }],
  event: event === undefined ? undefined : (JSON.parse(event) as EventJson),
  after: after === undefined ? undefined : (JSON.parse(after) as EventJson),
}));
const variables = {};

test("each plugin has an example", async () => {
  const all = (await pluginKinds()).flatMap(({ kind, plugins }) =>
    plugins.map(({ name }) => `${kind} ${name}`),
  );
  assert.deepEqual(examples.map(({ name }) => name).toSorted(), all.toSorted());
});

for (const { name, files, event, after } of examples) {
  test(`the example of ${name} is right`, async () => {
    const diagnostics = await inspectPipeline(files, variables);
    const fault = FAULTS[name];
    const found = diagnostics.map(({ message, hint }) => `${message}; ${hint}`).join("\n");
    if (fault === undefined) assert.equal(found, "");
    else assert.match(found, fault);
    if (event === undefined || after === undefined) return;
    const { text } = await runSamples({ files, samples: [event], variables });
    const made = JSON.parse(text.split("\n")[0]!) as EventJson;
    assert.deepEqual(Object.fromEntries(Object.keys(after).map((key) => [key, made[key]])), after, text);
  });
}
