import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "../schema.ts";
import { checkSettings, parseOverride, parseSettings } from "./settings.ts";

const schema = Type.Object(
  {
    "http.port": Type.Integer({ minimum: 0, maximum: 65535, default: 9200, description: "port" }),
    "node.name": Type.String({ default: "hub-1" }),
    "node.attr": Type.Record(Type.String(), Type.String(), { default: {} }),
    "path.config": Type.Array(Type.String(), { default: ["pipelines/*.conf"] }),
    "pipeline.bath.size": Type.Integer({ default: 125 }),
    inputs: Type.Array(
      Type.Object(
        { type: Type.String(), enabled: Type.Boolean({ default: true }) },
        { additionalProperties: false },
      ),
      { default: [] },
    ),
  },
  { additionalProperties: false },
);
const aliases = [["pipeline.batch.size", "pipeline.bath.size"]] as const;

function read(text: string, env: NodeJS.ProcessEnv = {}) {
  return checkSettings(schema, parseSettings(text, "hub.yml", schema, env), aliases);
}

test("dotted and nested keys mean the same", () => {
  assert.equal(read("http.port: 1")["http.port"], 1);
  assert.equal(read("http:\n  port: 1")["http.port"], 1);
});

test("defaults are filled in", () => {
  assert.deepEqual(read(""), {
    "http.port": 9200,
    "node.name": "hub-1",
    "node.attr": {},
    "path.config": ["pipelines/*.conf"],
    "pipeline.bath.size": 125,
    inputs: [],
  });
});

test("user-defined names are gathered, dotted and nested", () => {
  assert.deepEqual(read("node.attr.rack: r1\nnode.attr.zone: 2")["node.attr"], { rack: "r1", zone: "2" });
  assert.deepEqual(read("node:\n  attr:\n    rack: r1")["node.attr"], { rack: "r1" });
  assert.deepEqual(read("node.attr: {rack: r1}\nnode.attr.zone: b")["node.attr"], { rack: "r1", zone: "b" });
});

test("words of YAML 1.1 are flags where a flag is wanted, and text elsewhere", () => {
  const entry = (word: string): unknown => read(`inputs: [{type: on, enabled: ${word}}]`).inputs[0];
  for (const word of ["yes", "On", "ON", "true"])
    assert.deepEqual(entry(word), { type: "on", enabled: true });
  for (const word of ["no", "Off", "NO"]) assert.deepEqual(entry(word), { type: "on", enabled: false });
  assert.throws(() => entry("maybe"), { message: /enabled must be true or false, but is "maybe"/ });
});

test("environment variables are substituted, with defaults", () => {
  assert.equal(read(`http.port: $\{PORT:17}`)["http.port"], 17);
  assert.equal(read(`node.name: "a-$\{NAME}"`, { NAME: "b" })["node.name"], "a-b");
});

test("a setting without a value is as by default, on the command line too", () => {
  assert.equal(read("node.name:\nhttp.port: 1")["node.name"], "hub-1");
  const entries = parseSettings("node.name: a", "hub.yml", schema, {});
  const [key, entry] = parseOverride("node.name=", {});
  entries.set(key, entry);
  assert.equal(checkSettings(schema, entries)["node.name"], "hub-1");
  assert.throws(() => read("http.prot:"), { message: /unknown setting "http\.prot"/ });
});

test("a list may come from the environment: nothing, one entry, or all of them as JSON", () => {
  for (const [files, list] of [
    ["", []],
    ["a.conf", ["a.conf"]],
    ["{a,b}.conf", ["{a,b}.conf"]],
    ['["a.conf", "b.conf"]', ["a.conf", "b.conf"]],
    ["[ab].conf", ["[ab].conf"]],
  ] as const)
    assert.deepEqual(read(`path.config: "$\{FILES}"`, { FILES: files })["path.config"], list);
});

for (const [text, message] of [
  ["http.prot: 1", /^hub\.yml:1:1: unknown setting "http\.prot"; did you mean "http\.port"\?$/],
  [
    "http.prot: 1\nnode.name: 3\nhttp.port: many",
    /^hub\.yml:1:1: unknown .*\n {2}hub\.yml:3:1: http\.port must be a whole number, but is "many"$/,
  ],
  ["http:\n  port: many", /^hub\.yml:2:3: http\.port must be a whole number, but is "many"$/],
  ["a: [", /^hub\.yml:/],
  [`node.name: $\{NOWHERE}`, /^hub\.yml:1:1: environment variable NOWHERE isn't set/],
  [`node.name: "$\{NOWHERE:?name the node}"`, /environment variable NOWHERE isn't set; name the node$/],
  ["http.port: 1\nhttp:\n  port: 2", /hub\.yml:3:3: "http\.port" was set already at hub\.yml:1:1/],
  ["pipeline.bath.size: 1\npipeline.batch.size: 2", /are the same setting but differ; remove one of them$/],
  [
    "inputs:\n  - type: log\n    enabeld: true",
    /^hub\.yml:3:5: inputs\.0: unknown setting "enabeld"; did you mean "enabled"\?$/,
  ],
  ["inputs:\n  - {enabled: true}", /^hub\.yml:2:5: inputs\.0: setting "type" is missing$/],
  [
    "inputs:\n  - type: log\n  - type: tcp\n    enabled: maybe",
    /^hub\.yml:4:5: inputs\.1\.enabled must be true or false/,
  ],
] as const) {
  test(`settings ${JSON.stringify(text)} are refused with the place`, () => {
    assert.throws(() => read(text), { code: "settings_invalid", message });
  });
}

test("a setting that is missing is missing in its file, though that be empty", () => {
  const required = Type.Object({ name: Type.String() }, { additionalProperties: false });
  for (const text of ["", "# nothing\n"]) {
    assert.throws(() => checkSettings(required, parseSettings(text, "a.yml", required, {})), {
      message: 'a.yml: setting "name" is missing',
    });
  }
});

test("an alias alone sets the setting it names", () => {
  assert.equal(read("pipeline.batch.size: 7")["pipeline.bath.size"], 7);
});

test("entries of a list get their defaults", () => {
  assert.deepEqual(read("inputs: [{type: log}]").inputs, [{ type: "log", enabled: true }]);
});

test("an override of the command line is YAML", () => {
  assert.deepEqual(parseOverride("http.port=8", {})[1].value, 8);
});
