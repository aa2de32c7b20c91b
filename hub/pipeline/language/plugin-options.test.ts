import assert from "node:assert/strict";
import { test } from "node:test";
import { REFUSED_PLUGINS } from "#hub/pipeline/plugins/refused-plugins.ts";
import { compilePipeline, loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { pluginKinds } from "#hub/pipeline/tooling/plugin-reference.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { list, number, options, text } from "#proto/kit/options.ts";
import { formatDiagnostic } from "./diagnostics.ts";
import { parsePipeline } from "./parser.ts";
import { readOptions } from "./plugin-options.ts";
import { SourceText } from "./syntax-tree.ts";

await loadAllPlugins();

/** Returns the options of the first filter. */
function optionOf(text: string, variables: Record<string, string>): unknown {
  const [step] = parsePipeline(new SourceText("p.conf", text)).sections[0]!.steps;
  assert.ok(step?.kind === "plugin");
  const schema = options({ fields: list("fields"), length_bytes: number("bytes", 0) });
  return readOptions(step, schema, "filter truncate", variables, (_, __, message) => assert.fail(message));
}

/** What is said of a pipeline: without the text that it shows. */
function said(text: string): string[] {
  const options = { variables: {}, clock: systemClock, random: () => 0.5, guard: new RegexpGuard() };
  const { diagnostics } = compilePipeline([new SourceText("p.conf", text)], options);
  return diagnostics.map((each) => formatDiagnostic(each).split("\n").toSpliced(1, 2).join("\n"));
}

test("an option without effect is a warning that names its replacement", () => {
  assert.deepEqual(said('input { syslog { grok_pattern => "%{WORD:a}" } }'), [
    'p.conf:1:34: warning: input syslog: "grok_pattern" has no effect\n' +
      "   = both forms of syslog are read without it; read others with input tcp or udp and filter grok",
  ]);
  assert.deepEqual(said('input { syslog { } } filter { useragent { source => "a" } }'), []);
  assert.deepEqual(said("input { heartbeat { threads => 1 } }"), []);
  assert.match(said("input { heartbeat { threads => 2 } }")[0] ?? "", /warning: .*"threads" has no effect/);
});

test("every output takes a codec, and says where it has no effect; inputs refuse one that they can't read by", () => {
  assert.match(
    said("output { elasticsearch { codec => json { } } }")[0]!,
    /warning: .*"codec" has no effect/,
  );
  assert.match(said("input { relp { port => 1 codec => multiline { } } }")[0]!, /codec/);
  assert.deepEqual(said("input { tcp { port => 1 codec => json } } output { stdout { codec => json } }"), []);
});

test("grok warns of a folder without files of patterns, and refuses what names their patterns", () => {
  const grok = (name: string): string[] =>
    said(`filter { grok { patterns_dir => "/none/such" match => { "m" => "%{${name}:n}" } } }`);
  assert.match(grok("WORD")[0]!, /: warning: there are no files of patterns at \/none\/such/);
  assert.equal(grok("WORD").length, 1);
  assert.match(grok("TICKET").join("\n"), /: error: .*TICKET/);
});

test("an option whose other value would lose something is refused with what to write instead", () => {
  const refused = [
    ['output { file { path => "/%{name}" } }', /first folder of an absolute path/],
    ['output { file { path => "/a-%{name}/b" } }', /first folder of an absolute path/],
    ['output { email { to => "a@b" via => sendmail } }', /"via" must be one of|smtp/],
    ['input { tcp { port => 1 ssl_truststore_path => "x" } }', /can't be used\n.*PEM files/],
    ['output { elasticsearch { cloud_id => "x" } }', /can't be used\n.*hosts =>/],
    ['input { syslog { timezone => "Middle/Earth" } }', /is not a time zone/],
  ] as const;
  for (const [text, reason] of refused) {
    const [only, ...others] = said(text);
    assert.match(only ?? "", /: error: /);
    assert.match(only!, reason);
    assert.deepEqual(others, []);
  }
});

test("a plugin of another engine that isn't here is refused with what to use instead", () => {
  assert.match(
    said("filter { jdbc_streaming { } }")[0] ?? "",
    /there is no filter "jdbc_streaming"\n.*translate/,
  );
  assert.match(said("output { pagerduty { } }")[0] ?? "", /there is no output "pagerduty"\n.*alert/);
  assert.match(
    said("input { stdin { codec => protobuf } }")[0] ?? "",
    /there is no codec "protobuf"\n.*JSON/,
  );
});

test("no plugin is both here and refused", async () => {
  const both = (await pluginKinds()).flatMap(({ kind, plugins }) =>
    plugins.filter(({ name }) => Object.hasOwn(REFUSED_PLUGINS[kind] ?? {}, name)).map(({ name }) => name),
  );
  assert.deepEqual(both, []);
});

test("a variable's quotes fall away, and a list in it is a list", () => {
  const read = (value: string, variables: Record<string, string>) =>
    optionOf(`filter { truncate { fields => ${value} length_bytes => [3] } }`, variables);
  const hosts = { H: `["a:1", 'b:2',c]`, Q: `"quoted"`, N: "7", EMPTY: "" };
  const rows: [value: string, expected: unknown][] = [
    [`"\${H}"`, ["a:1", "b:2", "c"]],
    [`"\${Q}"`, ["quoted"]],
    [`"\${N}\${EMPTY}"`, ["7"]],
    [`"[\${N}]"`, ["[7]"]],
    [`"[\${N}][msg]"`, ["[7][msg]"]],
    [`["a", "[\${N}]"]`, ["a", "[7]"]],
    [`"'\${N}'"`, ["'7'"]],
    [`"\${MISSING:'x'}"`, ["x"]],
    [`"\${MISSING:[]}"`, []],
    [`'"kept"'`, ['"kept"']],
    [`"[kept, too]"`, ["[kept, too]"]],
  ];
  for (const [value, expected] of rows)
    assert.deepEqual(read(value, hosts), { fields: expected, length_bytes: 3 }, value);
});

test("a variable stays a text where the option takes no list", () => {
  const source = new SourceText("p.conf", `filter { x { secret => "\${PW}" } }`);
  const [step] = parsePipeline(source).sections[0]!.steps;
  assert.ok(step?.kind === "plugin");
  const schema = options({ secret: text("a password") });
  const read = readOptions(step, schema, "filter x", { PW: "[s3cret]" }, (_, __, message) =>
    assert.fail(message),
  );
  assert.deepEqual(read, { secret: "[s3cret]" });
});
