import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { formatDiagnostic } from "#hub/pipeline/language/diagnostics.ts";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { inspectPipeline, simulate } from "#hub/pipeline/tooling/simulate.ts";
import { decimal, parseEventJson } from "#proto/codec/json.ts";
import { copyValue, Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { compilePipeline, loadAllPlugins, runEvents } from "./compile.ts";

await loadAllPlugins();

/** A reference to the environment as pipelines write it. */
function variable(name: string): string {
  return `$\{${name}}`;
}

function compile(text: string, variables: Record<string, string> = {}) {
  const options = { variables, clock: systemClock, random: () => 0.5, guard: new RegexpGuard() };
  return compilePipeline([new SourceText("p.conf", text)], options);
}

function holds(
  condition: string,
  fields: Record<string, unknown>,
  variables: Record<string, string> = {},
): boolean | string {
  const { program, diagnostics } = compile(
    `filter { if ${condition} { mutate { add_tag => "yes" } } }`,
    variables,
  );
  assert.deepEqual(diagnostics.map(formatDiagnostic), []);
  const { finished, refused } = runEvents(program, [new Event(copyValue(fields) as JsonObject, 0)]);
  return refused[0]?.reason ?? finished[0]!.fields["tags"] !== undefined;
}

test("files that look like pipelines of their own are named where their events would be written twice", () => {
  const file = (path: string, output: string) =>
    new SourceText(path, `input { stdin { } } output { ${output} }`);
  const own = file("a.conf", "elasticsearch { }");
  const rows: [second: SourceText, isNamed: boolean][] = [
    [file("b.conf", "elasticsearch { }"), true],
    [file("b.conf", 'if [type] == "b" { elasticsearch { } }'), false],
    [file("b.conf", "stdout { }"), false],
    [new SourceText("b.conf", "output { elasticsearch { } }"), false],
  ];
  const options = { variables: {}, clock: systemClock, random: () => 0.5, guard: new RegexpGuard() };
  for (const [second, isNamed] of rows) {
    const { diagnostics } = compilePipeline([own, second], options);
    const texts = diagnostics.map(formatDiagnostic).join();
    assert.equal(/b\.conf:1:\d+.*that of a\.conf both write/s.test(texts), isNamed, texts);
  }
});

test("a pipeline's setting for field names is the default of its plugins", () => {
  const text = `filter {
    syslog_pri { }
    syslog_pri { ecs_compatibility => disabled }
  }`;
  const fields = (ecsCompatibility?: "disabled" | "v8") => {
    const { program } = compilePipeline([new SourceText("p.conf", text)], {
      variables: {},
      clock: systemClock,
      random: () => 0.5,
      guard: new RegexpGuard(),
      ...(ecsCompatibility !== undefined && { ecsCompatibility }),
    });
    const { finished } = runEvents(program, [
      new Event({ syslog_pri: "13", log: { syslog: { priority: 14 } } }, 0),
    ]);
    return finished[0]!.fields;
  };
  assert.equal(fields("v8")["syslog_severity_code"], 5);
  assert.partialDeepStrictEqual(fields("v8")["log"], { syslog: { severity: { code: 6 } } });
  assert.deepEqual(fields(), fields("disabled"));
  assert.deepEqual(fields("disabled")["log"], { syslog: { priority: 14 } });
});

test("inputs that read a queue take the option for threads, and say that it has no effect", () => {
  const { diagnostics } = compile('input { rabbitmq { host => "h" threads => 4 } redis { threads => 4 } }');
  assert.deepEqual(
    diagnostics
      .map(({ severity, message }) => `${severity}: ${message}`)
      .filter((text) => text.includes("threads")),
    ['warning: input rabbitmq: "threads" has no effect', 'warning: input redis: "threads" has no effect'],
  );
});

test("every input and output takes the option for field names, and says where it has no effect", async () => {
  const text = (mode: string) =>
    `input { redis { host => "a" data_type => list key => "k" ecs_compatibility => ${mode} } } output { null { ecs_compatibility => ${mode} } }`;
  const said = async (mode: string) =>
    (await inspectPipeline([{ path: "p.conf", text: text(mode) }], {})).map(({ severity, message }) => [
      severity,
      message,
    ]);
  assert.deepEqual(await said("disabled"), []);
  assert.deepEqual(await said("v8"), [
    ["warning", 'input redis: "ecs_compatibility" has no effect'],
    ["warning", 'output null: "ecs_compatibility" has no effect'],
  ]);
});

const CONDITIONS: [condition: string, fields: Record<string, unknown>, expected: boolean][] = [
  ["[a]", { a: 0 }, true],
  ["[a]", { a: [] }, true],
  ["[a]", { a: "" }, false],
  ["[a]", { a: "false" }, false],
  ["[a]", { a: null }, false],
  ["![a]", {}, true],
  ["[a] == 5", { a: 5 }, true],
  ["[a] == 5", { a: "5" }, false],
  ["[a] != 5", {}, true],
  ["[a] == 5", { a: decimal(5) }, true],
  ["[a] == [b]", { a: decimal(5), b: 5 }, true],
  ["[a] != 6", { a: decimal(5) }, true],
  ["[a] == 5", { a: decimal(5.5) }, false],
  ['[a] == "5.0"', { a: decimal(5) }, false],
  ["[a] == [b]", parseEventJson('{"a":12345678901234567890,"b":12345678901234567891}') as JsonObject, false],
  ["[a] < 5", { a: decimal(4) }, true],
  ["[a] >= [b]", { a: decimal(5), b: 5 }, true],
  ["[a] in [5, 6]", { a: decimal(5) }, true],
  ["[a] in [5.0, 6]", { a: decimal(5) }, true],
  ['[a] in ["5.0"]', { a: decimal(5) }, true],
  ["[a] in [5, 6]", { a: 5.5 }, false],
  ["[a][b] == [c]", { a: { b: "x" }, c: "x" }, true],
  ["[a] < 5", { a: 4.5 }, true],
  ['[a] >= "b"', { a: "b" }, true],
  ['[a] > "\ufb00"', { a: "\u{1f600}" }, true],
  ["[a] < [b]", { a: "x\ufb00", b: "x\u{1f600}" }, true],
  ["[a] < [b]", { a: "x", b: "x\u{1f600}" }, true],
  ["[a] =~ /^x+$/", { a: "no\nxx" }, true],
  ["[a] =~ /5/", { a: 5 }, false],
  ["[a] =~ /(?i)error/", { a: "an ERROR" }, true],
  ["[a] =~ /\\Ax\\h+\\z/", { a: "x0f" }, true],
  ["[a] !~ /\\Ax\\z/", { a: "x\nx" }, true],
  ["[a] !~ /5/", {}, true],
  ['[a] in ["x", "5"]', { a: 5 }, true],
  ['"x" in [a]', { a: ["x"] }, true],
  ['"x" in [a]', { a: "axb" }, true],
  ['"x" not in [a]', {}, true],
  ["[a] in [b]", { a: "l", b: "hello" }, true],
  ["[a] in [b]", {}, false],
  ["[a] in [b]", { a: ["x"], b: ["x", ["x"]] }, false],
  ["[a] in [b]", { a: { x: 1 }, b: { x: 1 } }, false],
  ["[a] in [b]", { a: 42, b: 42 }, true],
  ['[a] in "const"', { a: "on" }, true],
  ["[a] xor [b]", { a: 1 }, true],
  ["[a] nand [b]", { a: 1, b: 1 }, false],
  ['[@metadata][x] == "y"', { "@metadata": { x: "y" } }, true],
  [`[a] == "${variable("V:d")}"`, { a: "d" }, true],
];

test("conditions are evaluated as the language defines", () => {
  for (const [condition, fields, expected] of CONDITIONS) {
    assert.equal(holds(condition, fields), expected, `${condition} with ${JSON.stringify(fields)}`);
  }
  assert.equal(holds(`[a] == "${variable("V:d")}"`, { a: "e" }, { V: "e" }), true);
  assert.equal(holds(`[a] =~ "^${variable("V:d")}$"`, { a: "e7" }, { V: "e\\d" }), true);
  assert.equal(holds(`[a] =~ /^${variable("V:d")}$/`, { a: "e7" }, { V: "e\\d" }), false);
});

test("an event that a condition can't order goes no further, the others do", () => {
  assert.match(String(holds("[a] < 5", { a: "x" })), /a condition compares a string \(x\) with a number/);
  assert.match(String(holds("[a] > 5", {})), /a missing field/);
  const fields = { a: decimal(30), t: "5", l: [5] };
  assert.match(String(holds("[a] > [t]", fields)), /a number \(30.0\) with a string \(5\)/);
  assert.match(String(holds("[l] < [a]", fields)), /a list with a number/);
  assert.match(String(holds("[a] > [b]", fields)), /a missing field/);
});

test("branches take the first case that holds, children continue after their parent's step", () => {
  const { program } = compile(`filter {
    if [t] == 1 { mutate { add_field => { "r" => "one" } } }
    else if [t] == 2 { mutate { add_field => { "r" => "two" } } split { field => "l" } }
    else { drop { } }
    mutate { add_tag => "end" }
  }`);
  const events = [{ t: 1 }, { t: 2, l: ["x", "y"] }, { t: 3 }].map((fields) => new Event({ ...fields }, 0));
  const { finished } = runEvents(program, events);
  assert.deepEqual(
    finished.map(({ fields: { r, l, tags } }) => [r, l, tags]),
    [
      ["one", undefined, ["end"]],
      ["two", "x", ["end"]],
      ["two", "y", ["end"]],
    ],
  );
});

test("an event that an output's codec can't write is refused by this output only", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-schema-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const schema = join(folder, "n.avsc");
  writeFileSync(schema, '{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}');
  const text = `output {
    kafka { topic_id => "t" codec => avro { schema_uri => "${schema}" } }
    elasticsearch { index => "i" }
  }`;
  const [simulation] = await simulate({
    files: [{ path: "p.conf", text }],
    samples: [{ n: "many" }],
    variables: {},
    withSteps: false,
  });
  const [kafka, elasticsearch] = simulation!.results[0]?.outputs ?? [];
  assert.match(kafka?.refused ?? "", /field n can't be made/);
  assert.equal(elasticsearch?.index, "i");
  assert.deepEqual(simulation!.refused, []);
});

test("the failure of an output names the output", () => {
  const { program } = compile("output { if [a] { stdout { } } }");
  const faults: string[] = [];
  program.run(new Event({ a: 1 }, 0), {
    finished: () => undefined,
    output: () => {
      throw new Error("no memory");
    },
    refused: (_, { plugin, message }) => faults.push(`${plugin}: ${message}`),
  });
  assert.deepEqual(faults, ["stdout: stdout failed: no memory"]);
});

/** Text with « before the position that the error must name. */
const FAULTS: [text: string, message: RegExp, hint: RegExp][] = [
  ["filter { «grook { } }", /no filter "grook"/, /"grok"/],
  ["filter { mutate { «renam => { } } }", /has no option "renam"/, /"rename"/],
  ["filter { «json { } }", /needs the option "source"/, /JSON/],
  ["filter { drop { percentage => «yes } }", /"percentage" must be a number/, /percentage of the events/],
  ['filter { mutate { convert => «{ "a" => "int" } } }', /Invalid conversion type "int"/, /integer/],
  ['filter { grok { match => «{ "m" => "%{NUMBR:n}" } } }', /no pattern "NUMBR"/, /^$/],
  ['filter { grok { match => «{ "m" => "(" } } }', /never closed/, /^$/],
  ['filter { mutate { add_field => { "a" => 1 «"a" => 2 } } }', /stands twice/, /keep one/],
  [`filter { mutate { add_tag => «"${variable("NOT_SET")}" } }`, /NOT_SET isn't set/, /default/],
  ["input { «if [a] { beats { } } }", /input can't stand/, /filters/],
  ["output { «elasticsaerch { } }", /no output/, /"elasticsearch"/],
  ['output { elasticsearch { index => «"Big" } }', /can't be the name/, /lower-case/],
  ['filter { date { match => «["m"] } }', /at least one format/, /ISO8601/],
  ['filter { date { match => «["m", "yyyy-MM-DD HH:mm"] } }', /DD .* day of the year/, /"yyyy-MM-dd HH:mm"/],
  ['filter { grok { match => «{ "m" => "%{IP:a} %{WORD:b" } } }', /"%\{WORD:b" is never/, /%\{WORD:b\}$/],
];

for (const [marked, message, hint] of FAULTS) {
  test(`check names what is wrong in ${marked.replace("«", "").slice(0, 60)}`, async () => {
    const files = [{ path: "p.conf", text: marked.replace("«", "") }];
    const [diagnostic] = await inspectPipeline(files, {});
    assert.ok(diagnostic !== undefined);
    assert.match(diagnostic.message, message);
    assert.match(diagnostic.hint, hint);
    assert.equal(diagnostic.range.start, marked.indexOf("«"));
  });
}

test("what only looks like these faults is none", async () => {
  const texts = [
    'filter { date { match => ["m", "yyyy-DDD", "dd/MMM/yyyy"] } }',
    'filter { grok { match => { "m" => ["%{IP:[a][b]:int}", "100%{GREEDYDATA}", "%{X=\\\\d+}"] } } }',
  ];
  for (const text of texts) assert.deepEqual(await inspectPipeline([{ path: "p.conf", text }], {}), []);
});

test("an option written twice is put together", async () => {
  const text =
    'filter { mutate { replace => { "a" => "1" } replace => { "b" => "2" } add_tag => "x" add_tag => "y" } }';
  const [result] = await simulate({
    files: [{ path: "p.conf", text }],
    samples: [{ message: "line" }],
    variables: {},
    withSteps: false,
  });
  const { a, b, tags, message } = result!.results[0]!.event;
  assert.deepEqual([a, b, tags, message], ["1", "2", ["x", "y"], "line"]);
});

test("a pipeline of the page names no file of the machine, in whatever plugin", () => {
  const texts = [
    'input { file { path => "/etc/shadow" } }',
    'input { tcp { port => 1 ssl_enabled => true ssl_certificate => "/a" ssl_key => "/hub.key" } }',
    'input { jdbc { jdbc_connection_string => "jdbc:sqlite:/a.db" statement => "select 1" } }',
    'input { generator { codec => multiline { pattern => "x" what => previous patterns_dir => "/etc" } } }',
    'filter { translate { source => "a" dictionary_path => "/etc/shadow.yml" } }',
    'filter { grok { match => { "message" => "x" } patterns_dir => "/etc" } }',
    'filter { js { path => "/etc/shadow" } }',
    'output { elasticsearch { hosts => "other:9200" template => "/etc/shadow" } }',
    'output { http { url => "https://a" cacert => "/etc/ca.pem" } }',
    'output { http { url => "https://a" ssl_certificate => "/a.pem" ssl_key => "/hub.key" } }',
    'input { udp { port => 1 codec => collectd { authfile => "/etc/shadow" } } }',
    'input { udp { port => 1 codec => collectd { typesdb => ["/etc/shadow"] } } }',
    'input { udp { port => 1 codec => avro { schema_uri => "/etc/shadow" } } }',
    'output { kafka { topic_id => "a" ssl_keystore_location => "/hub.key" } }',
  ];
  for (const text of texts) {
    const [first] = managedDiagnostics(text);
    assert.match(first?.message ?? "", /which pipelines of the page may not read/, text);
  }
});

test("what is no codec is refused with what to write", () => {
  for (const codec of ['{ "a" => "b" }', '[ "json" ]', "5"])
    for (const text of [`input { stdin { codec => ${codec} } }`, `output { stdout { codec => ${codec} } }`]) {
      const [first] = managedDiagnostics(text);
      assert.match(first?.message ?? "", /this is not a codec: write codec => json/, text);
    }
});

test("a pipeline of the page puts no secret into events, but may connect with one", () => {
  for (const text of [
    `filter { mutate { add_field => { "a" => "${variable("DB_PASSWORD")}" } } }`,
    `filter { mutate { add_field => { "${variable("DB_PASSWORD:none")}" => "a" } } }`,
    `input { generator { message => "${variable("DB_PASSWORD")}" } }`,
    `input { http { port => 1 add_field => { "a" => ["b", "${variable("DB_PASSWORD")}"] } } }`,
    `input { generator { codec => line { charset => "${variable("DB_PASSWORD")}" } } }`,
    `output { elasticsearch { hosts => "other:9200" index => "x-${variable("DB_PASSWORD")}" } }`,
    `filter { if [message] =~ "^${variable("DB_PASSWORD")}" { drop { } } }`,
    `filter { if !("a" in ["${variable("DB_PASSWORD")}"] and [b] == 1) { drop { } } }`,
  ]) {
    const [first] = managedDiagnostics(text);
    assert.match(first?.message ?? "", /may only do in credentials of inputs and outputs/, text);
  }
  const connects = `output { elasticsearch { hosts => "other:9200" user => "me" password => "${variable("DB_PASSWORD")}" } }`;
  assert.deepEqual(managedDiagnostics(connects), []);
});

function managedDiagnostics(text: string) {
  return compilePipeline([new SourceText("p.conf", text)], {
    variables: { DB_PASSWORD: "hunter2" },
    clock: systemClock,
    random: () => 0.5,
    guard: new RegexpGuard(),
    isManaged: true,
  }).diagnostics;
}

test("an input's field to add that an event's own is in the way of costs it a tag", () => {
  const { inputs } = compile('input { http { port => 1 add_field => { "[host][site]" => "a" } } }');
  const event = new Event({ host: "web" }, 0);
  inputs[0]!.decorate(event);
  assert.deepEqual([event.fields["host"], event.fields["tags"]], ["web", ["_addfieldfailure"]]);
});

test("the output stdout lays events out for people unless another codec is written", () => {
  const written = (text: string): string => {
    const { outputs } = compile(`output { stdout { ${text} } }`);
    const { shaper } = outputs[0]!;
    assert.ok("shape" in shaper);
    const record = shaper.shape(new Event({ a: 1, "@timestamp": "2020-01-01T00:00:00Z" }, 0));
    assert.ok(record !== undefined && "body" in record);
    return Buffer.from(record.body).toString();
  };
  assert.equal(written(""), `{\n    "@timestamp" => 2020-01-01T00:00:00.000Z,\n             "a" => 1\n}\n`);
  assert.equal(written("codec => json_lines"), `{"a":1,"@timestamp":"2020-01-01T00:00:00.000Z"}\n`);
});

test("filters that have a tag for it tag an event in which a field couldn't be set", () => {
  const rows: [filter: string, fields: Record<string, unknown>, tag: string][] = [
    ['mutate { add_field => { "[a][b]" => "x" } }', { a: "y" }, "_mutate_error"],
    ['mutate { add_field => { "%{key}" => "x" } tag_on_failure => "mine" }', { key: "a[b" }, "mine"],
    ['mutate { rename => { "a" => "[b][c]" } }', { a: 1, b: "x" }, "_mutate_error"],
    ['kv { target => "[a][b]" }', { a: "x", message: "c=d" }, "_kv_filter_error"],
    ['csv { columns => ["[a][b]"] }', { a: "x", message: "1" }, "_csvparsefailure"],
    ['json { source => "message" target => "[a][b]" }', { a: "x", message: "{}" }, "_jsonparsefailure"],
    ['xml { source => "message" target => "[a][b]" }', { a: "x", message: "<c/>" }, "_xmlparsefailure"],
    [
      'dissect { mapping => { "message" => "%{[a][b]} %{c}" } }',
      { a: "x", message: "1 2" },
      "_dissectfailure",
    ],
  ];
  for (const [filter, fields, tag] of rows) {
    const { program } = compile(`filter { ${filter} }`);
    const finished: unknown[] = [];
    program.run(new Event({ ...fields }, 0), {
      finished: (event) => finished.push(event.fields["tags"]),
      refused: (_, { message }) => assert.fail(`${filter}: ${message}`),
    });
    assert.deepEqual(finished, [[tag]], filter);
  }
  const refused: string[] = [];
  compile('filter { uuid { target => "[a][b]" } }').program.run(new Event({ a: "x" }, 0), {
    finished: () => assert.fail("it has no tag"),
    refused: (_, { message }) => refused.push(message),
  });
  assert.deepEqual(refused, ["uuid failed: [a][b]: a is a string, not an object"]);
});
