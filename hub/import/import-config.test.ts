import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { importShipperConfig } from "./import-config.ts";

const FILEBEAT = `
name: web-1
filebeat.inputs:
  - type: log
    paths: [/var/log/app/*.log]
    exclude_lines: ['^DBG']
    multiline: { pattern: '^\\[', negate: true, match: after }
    fields: { service: shop }
    fields_under_root: true
    processors: [{ drop_event: { when: { equals: { a: b } } } }]
  - type: filestream
    id: files
    paths: [/var/log/x.log]
    prospector.scanner.check_interval: 5s
    close.on_state_change.inactive: 10m
    parsers: [{ ndjson: { target: "", add_error_key: true } }, { multiline: { type: count, count_lines: 3 } }]
  - type: syslog
    protocol.tcp: { host: "0.0.0.0:9000" }
  - type: redis
    hosts: ["localhost:6379"]
filebeat.modules: [{ module: nginx }]
fields: { env: prod }
tags: [web]
output.elasticsearch: { hosts: ["es:9200"] }
setup.kibana.host: kibana:5601
some.other: 1
`;

test("Filebeat's inputs become those of the agent, and the rest comments", () => {
  const text = importShipperConfig(FILEBEAT, "filebeat.yml");
  assert.deepEqual(parse(text), {
    name: "web-1",
    "shipper.inputs": [
      {
        type: "log",
        paths: ["/var/log/app/*.log"],
        exclude_lines: ["^DBG"],
        "multiline.pattern": "^\\[",
        "multiline.negate": true,
        "multiline.match": "after",
        fields: { env: "prod", service: "shop" },
        tags: ["web"],
      },
      {
        type: "log",
        id: "files",
        paths: ["/var/log/x.log"],
        scan_frequency: "5s",
        close_inactive: "10m",
        "json.keys_under_root": true,
        "json.add_error_key": true,
        "multiline.type": "count",
        "multiline.count_lines": 3,
        fields: { env: "prod" },
        tags: ["web"],
      },
      { type: "syslog", protocol: "tcp", host: "0.0.0.0:9000", fields: { env: "prod" }, tags: ["web"] },
    ],
    "output.pipeline": { servers: ["nats://127.0.0.1:4222"] },
  });
  for (const remark of [
    /# fields_under_root: true: fields are below fields/,
    /# processors: .*drop_event/,
    /# output\.elasticsearch\.hosts: \["es:9200"\]: the agent sends to the hub/,
    /# module nginx: not carried over/,
    /# input of type redis: it reads slow logs/,
    /# some\.other: 1: no counterpart/,
  ])
    assert.match(text, remark);
  assert.doesNotMatch(text, /setup\.kibana/);
});

const PROMTAIL = `
positions: { filename: /tmp/positions.yaml }
clients: [{ url: http://loki:3100/loki/api/v1/push }]
scrape_configs:
  - job_name: app
    static_configs:
      - targets: [localhost]
        labels: { job: app, __path__: "/var/log/app/*.log", __path_exclude__: "/var/log/app/old*.log" }
    pipeline_stages:
      - multiline: { firstline: '^\\d{4}', max_wait_time: 3s }
      - json: { expressions: { level: level } }
      - labels: { level: }
  - job_name: journal
    journal: { path: /var/log/journal, labels: { job: journal } }
  - job_name: syslog
    syslog: { listen_address: "0.0.0.0:1514", labels: { job: syslog } }
  - job_name: pods
    kubernetes_sd_configs: [{ role: pod }]
    pipeline_stages: [{ cri: {} }]
  - job_name: kafka
    kafka: { brokers: [a] }
`;

test("a length of lines that the agent refuses becomes the nearest that it takes", () => {
  const config =
    "filebeat.inputs: [{ type: log, paths: [/a], max_bytes: 10485760 }, { paths: [/b], max_bytes: 100 }]";
  const text = importShipperConfig(config, "filebeat.yml");
  const { "shipper.inputs": inputs } = parse(text) as { "shipper.inputs": { max_bytes: number }[] };
  assert.deepEqual(
    inputs.map(({ max_bytes }) => max_bytes),
    [4_194_304, 1024],
  );
  assert.match(text, /# max_bytes: 10485760: the agent takes 1024 to 4194304/);
});

test("settings of lines that the agent doesn't have become comments", () => {
  const lines = "json: { keys_under_root: true, ignore_decoding_error: true }";
  const parsers = "parsers: [{ multiline: { pattern: x, skip_newline: true } }]";
  const docker = 'type: docker, containers.ids: ["*"], encoding: utf-8';
  const config = `filebeat.inputs: [{ paths: [/a], ${lines} }, { type: filestream, paths: [/b], ${parsers} }, { ${docker} }]`;
  const text = importShipperConfig(config, "filebeat.yml");
  const { "shipper.inputs": inputs } = parse(text) as { "shipper.inputs": object[] };
  assert.deepEqual(inputs.map(Object.keys), [
    ["type", "paths", "json.keys_under_root"],
    ["type", "paths", "multiline.pattern"],
    ["type", "paths"],
  ]);
  assert.match(text, /# json.ignore_decoding_error: true: no counterpart/);
});

test("Promtail's jobs become inputs, and its stages comments that name a filter", () => {
  const text = importShipperConfig(PROMTAIL, "promtail.yml");
  assert.deepEqual((parse(text) as Record<string, unknown>)["shipper.inputs"], [
    {
      id: "app",
      type: "log",
      paths: ["/var/log/app/*.log"],
      exclude_files: ["^/var/log/app/old[^/]*\\.log$"],
      fields: { job: "app" },
      "multiline.pattern": "^\\d{4}",
      "multiline.negate": true,
      "multiline.match": "after",
      "multiline.timeout": "3s",
    },
    { id: "journal", type: "journald", directory: "/var/log/journal", fields: { job: "journal" } },
    { id: "syslog", type: "syslog", protocol: "tcp", host: "0.0.0.0:1514", fields: { job: "syslog" } },
    { id: "pods", type: "container", paths: ["/var/log/containers/*.log"], format: "cri" },
  ]);
  for (const remark of [
    /# stage json: .* in a pipeline: json/,
    /# client http:\/\/loki/,
    /# job kafka: kafka: no counterpart/,
  ])
    assert.match(text.replaceAll(/\n\s*# /g, " # ").replaceAll(" # ", "# "), remark);
});

test("each of Promtail's clients is named without its password, and their labels become fields", () => {
  const text = importShipperConfig(
    `clients:
  - { url: http://loki:3100/loki/api/v1/push, tenant_id: shop, external_labels: { cluster: a, job: x } }
  - { url: http://u:secret@hub:3100/loki/api/v1/push, bearer_token: secret }
scrape_configs:
  - { job_name: app, static_configs: [{ labels: { job: app, __path__: /var/log/app.log } }] }
  - { job_name: journal, journal: {} }
`,
    "promtail.yml",
  );
  assert.deepEqual((parse(text) as Record<string, unknown>)["shipper.inputs"], [
    { id: "app", type: "log", paths: ["/var/log/app.log"], fields: { cluster: "a", job: "app" } },
    { id: "journal", type: "journald", fields: { cluster: "a", job: "x" } },
  ]);
  const joined = text.replaceAll("\n# ", " ");
  for (const remark of [
    "client http://loki:3100/loki/api/v1/push: the agent sends to the hub; a pipeline of the hub sends on to Loki by its output loki",
    'client http://loki:3100/loki/api/v1/push: tenant_id: "shop": the option index of the output',
    "client http://hub:3100/loki/api/v1/push: the agent sends to the hub;",
  ])
    assert.ok(joined.includes(remark), joined);
  assert.doesNotMatch(text, /secret/);
});

test("what isn't a configuration of either is refused", () => {
  assert.throws(() => importShipperConfig("a: 1", "x.yml"), /x\.yml has neither scrape_configs/);
  assert.throws(() => importShipperConfig("a: [", "x.yml"), /x\.yml isn't YAML/);
});

test("a remark can't steer a terminal, nor leave its comment", () => {
  const text = importShipperConfig(
    'filebeat.inputs: []\n"a\\e]0;x\\a\\nshipper.inputs: [b]": 1\n',
    "filebeat.yml",
  );
  assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u);
  assert.doesNotMatch(text, /^shipper\.inputs: \[b\]/m);
});
