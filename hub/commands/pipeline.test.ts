import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parsePipelineCommand, runPipelineCommand } from "./pipeline.ts";

function folder(t: TestContext, files: Readonly<Record<string, string>>): (name: string) => string {
  const path = mkdtempSync(join(tmpdir(), "tailrace-command-"));
  t.after(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return (name) => join(path, name);
}

/** What people write, and the whole answer. */
const MISTAKES: [name: string, text: string[], answer: string[]][] = [
  [
    "= for =>",
    ["filter {", "  mutate {", '    add_tag = "x"', "  }", "}"],
    [
      'p.conf:3:13: error: "=" after "add_tag"',
      ' 3 |     add_tag = "x"',
      "   |             ^",
      "   = write: add_tag => value",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "elsif",
    ["filter {", "  if [a] == 1 {", "    drop { }", "  } elsif [a] == 2 {", "    drop { }", "  }", "}"],
    [
      'p.conf:4:5: error: "elsif" is not a keyword',
      " 4 |   } elsif [a] == 2 {",
      "   |     ^^^^^",
      "   = write: else if",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a comma at the end of a list",
    ["filter {", "  mutate {", '    add_tag => ["a", "b",]', "  }", "}"],
    [
      "p.conf:3:26: error: a comma after the last value of a list",
      ' 3 |     add_tag => ["a", "b",]',
      "   |                          ^",
      "   = leave the comma out",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "commas in a table",
    ["filter {", "  mutate {", '    replace => { "a" => "1", "b" => "2" }', "  }", "}"],
    [
      'p.conf:3:28: error: "," where a key or the closing brace was expected',
      ' 3 |     replace => { "a" => "1", "b" => "2" }',
      "   |                            ^",
      "   = entries are separated by blanks or line ends: leave the comma out",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a text that isn't closed",
    ["filter {", "  mutate {", '    add_tag => "open', "  }", "}"],
    [
      "p.conf:3:16: error: the text that begins here is never closed",
      ' 3 |     add_tag => "open',
      "   |                ^",
      '   = add the closing "; a text that ends in a backslash can\'t be written, as \\" means the quote itself',
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a mistyped filter",
    ["filter {", "  grook {", '    match => { "message" => "%{WORD:w}" }', "  }", "}"],
    [
      'p.conf:2:3: error: there is no filter "grook"',
      " 2 |   grook {",
      "   |   ^^^^^",
      '   = did you mean "grok"?',
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a mistyped option",
    ["filter {", "  grok {", '    mach => { "message" => "%{WORD:w}" }', "  }", "}"],
    [
      'p.conf:3:5: error: filter grok has no option "mach"',
      ' 3 |     mach => { "message" => "%{WORD:w}" }',
      "   |     ^^^^",
      '   = did you mean "match"?',
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a mistyped pattern",
    ["filter {", "  grok {", '    match => { "message" => "%{COMBINEDAPACHLOG}" }', "  }", "}"],
    [
      'p.conf:3:14: error: there is no pattern "COMBINEDAPACHLOG" (in %{COMBINEDAPACHLOG}); did you mean "COMBINEDAPACHELOG"?',
      ' 3 |     match => { "message" => "%{COMBINEDAPACHLOG}" }',
      "   |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "Ruby",
    ["filter {", "  ruby {", "    code => \"event.set('a', 1)\"", "  }", "}"],
    [
      "p.conf:3:13: error: Ruby code doesn't run here",
      " 3 |     code => \"event.set('a', 1)\"",
      "   |             ^^^^^^^^^^^^^^^^^^^",
      "   = write it for the filter js: js { code => \"…\" }; event.get, event.set, event.remove, event.tag and event.cancel() are the same, Ruby's nil is undefined, strings have JavaScript's methods",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "= for ==",
    ["filter {", "  if [status] = 404 {", "    drop { }", "  }", "}"],
    [
      'p.conf:2:15: error: "=" is not a comparison',
      " 2 |   if [status] = 404 {",
      "   |               ^",
      "   = write: ==",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a brace that isn't closed",
    ["filter {", "  mutate {", '    add_tag => "x"', "  }"],
    [
      'p.conf:1:8: error: this "{" is never closed',
      " 1 | filter {",
      "   |        ^",
      "   = add the closing }",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a field without brackets",
    ["filter {", "  if status == 404 {", "    drop { }", "  }", "}"],
    [
      'p.conf:2:6: error: "status" is not a value',
      " 2 |   if status == 404 {",
      "   |      ^^^^^^",
      '   = a field is written [status], a text "status"',
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a comma between options",
    ["filter {", "  mutate {", '    add_tag => "x", remove_field => "y"', "  }", "}"],
    [
      "p.conf:3:19: error: a comma between options",
      ' 3 |     add_tag => "x", remove_field => "y"',
      "   |                   ^",
      "   = options are separated by blanks or line ends: leave the comma out",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a colon for =>",
    ["filter {", "  mutate {", '    add_tag: "x"', "  }", "}"],
    [
      'p.conf:3:12: error: ":" after "add_tag"',
      ' 3 |     add_tag: "x"',
      "   |            ^",
      "   = write: add_tag => value",
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "a mistyped section",
    ["outptu {", "  stdout { }", "}"],
    [
      'p.conf:1:1: error: "outptu" is not a section',
      " 1 | outptu {",
      "   | ^^^^^^",
      '   = did you mean "output"?',
      "",
      "1 error, 0 warnings",
    ],
  ],
  [
    "&& for and",
    ["filter {", "  if [a] == 1 && [b] == 2 {", "    drop { }", "  }", "}"],
    [
      'p.conf:2:15: error: "&&" is not an operator',
      " 2 |   if [a] == 1 && [b] == 2 {",
      "   |               ^^",
      "   = write: and",
      "",
      "1 error, 0 warnings",
    ],
  ],
];

for (const [name, text, answer] of MISTAKES) {
  test(`check names ${name} with its place, a caret and the remedy`, async (t) => {
    const at = folder(t, { "p.conf": `${text.join("\n")}\n` });
    const command = parsePipelineCommand(["check", at("p.conf")]);
    const { output, isOk } = await runPipelineCommand(command, {});
    assert.equal(output.replaceAll(at("p.conf"), "p.conf"), `${answer.join("\n")}\n`);
    assert.equal(isOk, false);
  });
}

const ACCESS = 'filter { grok { match => { "message" => "^%{WORD:verb} %{NUMBER:bytes:int}$" } } }';

test("check prints ok, and run prints the events of each line", async (t) => {
  const at = folder(t, { "p.conf": ACCESS, "sample.log": "GET 5\n\nodd\n" });
  const checked = await runPipelineCommand(parsePipelineCommand(["check", at("p.conf")]), {});
  assert.deepEqual([checked.output, checked.isOk], [`${at("p.conf")}: ok\n`, true]);
  const run = parsePipelineCommand(["run", at("p.conf"), "--input", at("sample.log")]);
  const { output, isOk } = await runPipelineCommand(run, {});
  const events = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    events.map(({ verb, bytes, tags }) => [verb, bytes, tags]),
    [
      ["GET", 5, undefined],
      [undefined, undefined, ["_grokparsefailure"]],
    ],
  );
  assert.equal(isOk, true);
});

const CASES = `# kept
pipeline: p.conf
cases:
  - name: a request
    input: GET 5
    expected:
      - { message: GET 5, verb: GET, bytes: 6 }
  - name: several lines
    input: [GET 1, { message: GET 2, host: a }]
    expected: []
`;

test("run reads lines as the pipeline's input does: by its codec, with its fields and tags", async (t) => {
  const at = folder(t, {
    "p.conf":
      'input { stdin { codec => json tags => ["in"] type => "shop" } } filter { mutate { add_tag => "out" } }',
    "sample.log": '{"n":1,"@timestamp":"2026-01-02T03:04:05.000Z"}\n{"n":2}\nno json\n',
    "join.conf": 'input { tcp { port => 1 codec => multiline { pattern => "^ " what => "previous" } } }',
    "joined.log": "one\n  more\ntwo\n",
  });
  const run = async (...args: string[]): Promise<Record<string, unknown>[]> => {
    const { output } = await runPipelineCommand(parsePipelineCommand(["run", ...args]), {});
    return output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const events = await run(at("p.conf"), "--input", at("sample.log"));
  assert.deepEqual(
    events.map(({ n, message, type, tags }) => [n ?? message, type, tags]),
    [
      [1, "shop", ["in", "out"]],
      [2, "shop", ["in", "out"]],
      ["no json", "shop", ["_jsonparsefailure", "in", "out"]],
    ],
  );
  assert.equal(events[0]?.["@timestamp"], "2026-01-02T03:04:05.000Z");
  const joined = await run(at("join.conf"), "--input", at("joined.log"));
  assert.deepEqual(
    joined.map(({ message }) => message),
    ["one\n  more", "two"],
  );
});

test("failed cases show the difference, and --update writes the actual results", async (t) => {
  const at = folder(t, { "p.conf": ACCESS, "p.test.yml": CASES });
  const run = parsePipelineCommand(["test", at("")]);
  const failed = await runPipelineCommand(run, {});
  assert.equal(failed.isOk, false);
  assert.match(failed.output, /FAILED .*p\.test\.yml: a request\n {9}- \[bytes\]: 6\n {9}\+ \[bytes\]: 5\n/);
  assert.match(failed.output, /0 events were expected, 2 came out/);
  assert.match(failed.output, /2 of 2 cases failed/);
  await runPipelineCommand(parsePipelineCommand(["test", at(""), "--update"]), {});
  const passed = await runPipelineCommand(run, {});
  assert.equal(passed.output.split("\n").at(-2), "2 cases ok");
  assert.match(readFileSync(at("p.test.yml"), "utf8"), /^# kept\npipeline: p\.conf\n/);
});

for (const [args, message] of [
  [[], /write pipeline check/],
  [["chekc", "a"], /did you mean "check"/],
  [["run", "a"], /needs --input/],
  [["check"], /needs a file/],
  [["test", "a", "--updat"], /--updat/],
] as const) {
  test(`pipeline ${args.join(" ")} is refused with what to do`, () => {
    assert.throws(() => parsePipelineCommand(args), { code: "usage_invalid", message });
  });
}

test("files that aren't there are named", async () => {
  for (const args of [
    ["check", "nowhere.conf"],
    ["test", "nowhere.test.yml"],
  ]) {
    await assert.rejects(runPipelineCommand(parsePipelineCommand(args), {}), /nowhere/);
  }
});

test("the reference names every plugin and option, and a mistyped name gets a suggestion", async () => {
  const all = await runPipelineCommand(parsePipelineCommand(["plugins"]), {});
  for (const title of [
    "## Inputs",
    "## Filters",
    "## Outputs",
    "## Codecs",
    "### grok",
    "`tag_on_failure`",
  ]) {
    assert.ok(all.output.includes(title), title);
  }
  const one = await runPipelineCommand(parsePipelineCommand(["plugins", "drop"]), {});
  assert.match(one.output, /### drop[^#]*\| `percentage` \|/);
  await assert.rejects(
    runPipelineCommand(parsePipelineCommand(["plugins", "grook"]), {}),
    /did you mean "grok"/,
  );
});

test("docs/plugins.md is generated from the schemas; `tailrace-hub pipeline plugins > docs/plugins.md` writes it", async () => {
  const { output } = await runPipelineCommand(parsePipelineCommand(["plugins"]), {});
  const written = readFileSync(join(import.meta.dirname, "../../docs/plugins.md"), "utf8");
  assert.equal(written, output);
});

test("a long sample goes through the filters once, and its events come in order with their metadata", async (t) => {
  const lines = Array.from({ length: 30_000 }, (_, number) => `${number} of many`);
  const conf = `filter {
    grok { match => { "message" => "^%{NUMBER:number} %{WORD:word} %{GREEDYDATA:rest}" } }
    if [number] == "29999" { mutate { add_field => { "[@metadata][last]" => "yes" } } }
  }`;
  const path = folder(t, { "p.conf": conf, "sample.log": lines.join("\n") });
  const command = parsePipelineCommand(["run", path("p.conf"), "--input", path("sample.log")]);
  const { output, isOk } = await runPipelineCommand(command, {});
  const events = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.ok(isOk);
  assert.deepEqual(
    events.map(({ number }) => number),
    lines.map((_, number) => String(number)),
  );
  assert.deepEqual(events.at(-1)!["@metadata"], { last: "yes" });
});
