import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseSettings } from "#proto/kit/settings/settings.ts";
import { checkAgentSettings, loadSettings } from "./config.ts";
import { SETTINGS_SCHEMA } from "./schema.ts";

const folder = mkdtempSync(join(tmpdir(), "tailrace-config-"));
after(() => rmSync(folder, { recursive: true }));

const check = (text: string) => checkAgentSettings(parseSettings(text, "agent.yml", SETTINGS_SCHEMA, {}));
const INPUT = `shipper.inputs: [{type: log, paths: ["/l/*.log"]}]\n`;

test("the smallest settings are enough: the output is the hub of this machine", () => {
  const settings = check(INPUT);
  assert.equal(settings.output, "pipeline");
  assert.deepEqual(settings.file["output.pipeline.servers"], ["nats://127.0.0.1:4222"]);
  assert.deepEqual([settings.shutdownTimeoutMs, settings.file["status.port"]], [5_000, 5_066]);
  assert.equal(settings.inputs[0]!.options["max_bytes"], "1mb");
});

test("nested and dotted keys mean the same, within inputs too", () => {
  const nested = check(`${INPUT}output: {pipeline: {servers: ["nats://h:1"]}}`);
  assert.deepEqual(nested.file["output.pipeline.servers"], ["nats://h:1"]);
  const input = check(`shipper.inputs: [{type: tcp, host: "h:1", tls: {certificate: c, key: k}}]`);
  assert.equal(input.inputs[0]!.options["tls.certificate"], "c");
});

test("inputs that are switched off are checked and left out", () => {
  const settings = check(
    `shipper.inputs: [{type: log, paths: [/a], enabled: false}, {type: log, paths: [/b]}]`,
  );
  assert.equal(settings.inputs.length, 1);
  assert.throws(
    () => check(`shipper.inputs: [{type: log, pats: [/a], enabled: false}]`),
    /unknown setting "pats"/,
  );
});

test("an input without an id gets the same one at each start, and another one for other settings", () => {
  const id = (path: string) => check(`shipper.inputs: [{type: log, paths: [${path}]}]`).inputs[0]!.id;
  assert.match(id("/a"), /^log-[0-9a-f]{8}$/);
  assert.equal(id("/a"), id("/a"));
  assert.notEqual(id("/a"), id("/b"));
});

test("fields and tags become one JSON object", () => {
  const { inputs } = check(`shipper.inputs: [{type: log, paths: [/a], tags: [x], fields: {team: a}}]`);
  assert.deepEqual(JSON.parse(Buffer.from(inputs[0]!.fieldsJson).toString()), {
    fields: { team: "a" },
    tags: ["x"],
  });
});

for (const [text, message] of [
  [
    "filebeat.inputs: [{type: log, paths: [/a]}]",
    /^agent\.yml:1:1: filebeat\.inputs is a setting of another shipper; write shipper\.inputs$/,
  ],
  [
    "filebeat.shutdown_timeout: 5s",
    /^agent\.yml:1:1: filebeat\.shutdown_timeout is a setting of another shipper; write shutdown_timeout$/,
  ],
  ["shipper.inputs: [{type: redis}]", /unknown input type "redis"; write kvstore; there are log, /],
  ["shipper.inputs: [{type: log}]", /shipper\.inputs\.0: setting "paths" is missing$/],
  [
    "shipper.inputs: [{type: log, paths: [/a], multiline: {pattern: x, negate: maybe}}]",
    /shipper\.inputs\.0\.multiline\.negate must be true or false, but is "maybe"$/,
  ],
  ["name: a", /^agent\.yml: setting "shipper\.inputs" is missing/],
  ["", /^agent\.yml: setting "shipper\.inputs" is missing/],
  ["shipper.inputs: []", /^agent\.yml:1:1: shipper\.inputs /],
  [
    "shipper.inputs: [{type: lgo}]",
    /^agent\.yml:1:19: shipper\.inputs\.0: unknown input type "lgo"; did you mean "log"\?; there are log, /,
  ],
  [
    "shipper.inputs: [{type: log, path: [/a]}]",
    /shipper\.inputs\.0: unknown setting "path"; did you mean "paths"\?/,
  ],
  ["shipper.inputs: [{type: log, paths: [/a], max_bytes: 9mb}]", /max_bytes must be between 1kb and 4mb/],
  [
    "shipper.inputs: [{type: log, paths: [/a], clean_inactive: 1h}]",
    /shipper\.inputs\.0: clean_inactive must be longer than ignore_older/,
  ],
  [
    "shipper.inputs: [{type: log, paths: [/a], close_inactive: soon}]",
    /^agent\.yml:1:43: shipper\.inputs\.0\.close_inactive: "soon" isn't a duration; write for example/,
  ],
  [`${INPUT}shutdown_timeout: soon`, /^agent\.yml:2:1: shutdown_timeout: "soon" isn't a duration/],
  [
    "shipper.inputs: [{type: syslog, host: 'h:1', protocol: carrier}]",
    /^agent\.yml:1:46: shipper\.inputs\.0\.protocol must be one of udp, /,
  ],
  [
    "shipper.inputs:\n  - type: stdin\n  - type: log\n    paths: [/a]\n    multiline:\n      pattern: '['",
    /^agent\.yml:6:7: shipper\.inputs\.1: multiline\.pattern: "\["/,
  ],
  ["shipper.inputs: [{type: log, paths: ['/a[']}]", /"\[" has no "\]"/],
  [
    "shipper.inputs: [{type: log, paths: [/a], exclude_files: ['(']}]",
    /exclude_files: "\(" isn't a regular expression/,
  ],
  [
    "shipper.inputs: [{type: log, id: x, paths: [/a]}, {type: log, id: x, paths: [/b]}]",
    /another input with the id "x"/,
  ],
  ["shipper.inputs: [{type: udp, host: here}]", /"here" isn't an address/],
  [
    `${INPUT}output.pipeline.servers: [a]\noutput.search.hosts: [b]`,
    /^agent\.yml:3:1: output\.search and output\.pipeline \(agent\.yml:2:1\) are both enabled/,
  ],
  [`${INPUT}output.pipeline.enabled: false`, /no output is enabled/],
  [`${INPUT}output.search.enabled: true`, /output\.search\.hosts is missing/],
  [
    `${INPUT}output.pipeline.servers: ["nats://h:1", "nats://ada:pw@h:2"]`,
    /^agent\.yml:2:41: output\.pipeline\.servers: an address names a user or password, which would be shown wherever the address is; put them into output\.pipeline\.username and output\.pipeline\.token$/,
  ],
  [
    `${INPUT}output.pipeline.servers: ["http://h:4222"]`,
    /output\.pipeline\.servers: "http:\/\/h:4222" isn't an address of NATS; write nats:/,
  ],
  [
    `${INPUT}output.search.hosts: ["http://ada:pw@h:9200"]`,
    /output\.search\.hosts: .*put them into output\.search\.username and output\.search\.password$/,
  ],
  [
    `${INPUT}setup.dashboard.host: "ada:pw@h:5601"`,
    /put them into setup\.dashboard\.username .*or setup\.dashboard\.api_key$/,
  ],
  [
    `${INPUT}output.pipelin.servers: [a]`,
    /^agent\.yml:2:1: unknown setting "output\.pipelin\.servers"; did you mean "output\.pipeline\.servers"\?/,
  ],
  [
    `${INPUT}output.pipeline.batch_bytes: 1kb`,
    /^agent\.yml:2:1: output\.pipeline\.batch_bytes must be between 16kb and 1mb/,
  ],
] as const) {
  test(`settings are refused with place and remedy: ${text.replaceAll("\n", " | ")}`, () => {
    assert.throws(() => check(text), { code: "settings_invalid", message });
  });
}

test("a settings file that others may write is refused unless that is meant so", () => {
  const path = join(folder, "agent.yml");
  writeFileSync(path, INPUT);
  chmodSync(path, 0o666);
  const options = { path, overrides: [], env: {} };
  assert.throws(() => loadSettings({ ...options, strictPermissions: true }), {
    message: /chmod go-w .*--strict\.perms=false/,
  });
  assert.equal(loadSettings({ ...options, strictPermissions: false }).inputs.length, 1);
});

test("the command line overrides the file", () => {
  const path = join(folder, "override.yml");
  writeFileSync(path, `${INPUT}name: file`, { mode: 0o600 });
  const settings = loadSettings({
    path,
    overrides: ["name=line", "status.port=0"],
    env: {},
    strictPermissions: true,
  });
  assert.deepEqual([settings.file.name, settings.file["status.port"]], ["line", 0]);
});

test("a setting that has no effect is a warning with its place and the reason", () => {
  for (const [text, expected] of [
    [
      `${INPUT}config.reload.interval: 2s`,
      /^agent\.yml:2:1: config\.reload\.interval has no effect: .*automatic/,
    ],
    [
      `${INPUT}output.pipeline: {token: a, nkey_seed_file: /k}`,
      /output\.pipeline\.token has no effect: .*nkey_seed_file is used/,
    ],
    [
      `${INPUT}output.search: {hosts: [h], api_key: k, username: u}`,
      /output\.search\.username has no effect/,
    ],
    [
      `shipper.inputs: [{type: log, paths: [/a], delete_grace: 5m}]`,
      /shipper\.inputs\.0: delete_grace has no effect: .*delete_after_read/,
    ],
    [
      `shipper.inputs: [{type: log, paths: [/a], multiline: {type: count, count_lines: 2, negate: true}}]`,
      /multiline\.negate has no effect: .*multiline\.pattern/,
    ],
    [
      `shipper.inputs: [{type: kvstore, key: k, interval: 5s}]`,
      /^agent\.yml:1:\d+: .*interval has no effect: it works only with data_type: slowlog\.$/,
    ],
    [
      `shipper.inputs: [{type: tcp, host: "[::]:514", tls.ca: /ca.pem}]`,
      /tls\.ca has no effect: it works only with tls\.certificate\.$/,
    ],
    [
      `shipper.inputs: [{type: syslog, host: "[::]:514", max_connections: 5}]`,
      /max_connections has no effect: it works only with protocol: tcp or unix\.$/,
    ],
    [
      `shipper.inputs: [{type: syslog, protocol: tcp, host: "[::]:514", read_buffer: 8mb}]`,
      /read_buffer has no effect: it works only with protocol: udp\.$/,
    ],
  ] as const) {
    const { warnings } = check(text);
    assert.equal(warnings.length, 1, text);
    assert.match(warnings[0]!, expected);
  }
});

test("settings that work together aren't warnings, nor are those that are not given", () => {
  for (const text of [
    INPUT,
    `${INPUT}config.reload: {automatic: true, interval: 2s}`,
    `${INPUT}output.search: {hosts: [h], username: u, password: p}`,
    `shipper.inputs: [{type: log, paths: [/a], delete_after_read: true, delete_grace: 5m}]`,
    `shipper.inputs: [{type: kvstore, data_type: stream, key: k, group: g, batch: 5}]`,
    `shipper.inputs: [{type: syslog, protocol: tcp, host: "[::]:6514", tls: {certificate: c, key: k, ca: a}}]`,
  ])
    assert.deepEqual(check(text).warnings, [], text);
});
