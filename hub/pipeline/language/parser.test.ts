import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDiagnostic } from "./diagnostics.ts";
import { parsePipeline } from "./parser.ts";
import { type ConditionNode, type OperandNode, SourceText, type ValueNode } from "./syntax-tree.ts";

function parse(text: string) {
  return parsePipeline(new SourceText("p.conf", text));
}

const GOOD = [
  "input{}",
  "\ufeffinput { }",
  "# comment\r\ninput # another\r\n{ # and one\r\n}\r\n# last without newline",
  "filter { drop {} } filter { } output{} output{}",
  'filter { "drop" { } 7 { } }',
  "filter { mutate { codec => json { a => 1 } } }",
  'filter { a { b => [ ] c => [1, "x", yy] d => { } e => { "k" => { l1 => [ { mm => 1 } ] } 5 => x1 } } }',
  "filter { a { n => -1 o => 1. p => 010 } }",
  'filter { a { s => "two\nlines with \\" quote" t => \'single\' } }',
  "filter { if[a]==1{ } else\nif [a b][c] =~ /x\\/y/ { } else { } }",
  'filter { if !([a] in ["x", "y"]) and ([b] not in [c] or "z" in [d]) { } }',
  "filter { if [a] and [b] or [c] { } if [x] xor [y] { } if [p] nand [q] { } }",
  "filter { if [a] { } elseif[b] { } elseif [c] { } else { } }",
  'filter { if [a] =~ "re" or [b] !~ /re/ or ![c] { } }',
];

test("quoted texts have escape sequences where the file does", () => {
  const text = String.raw`filter { a { b => "1\t2\n\"3\"\\4\d" 'c' => '\'5\'' "\0" => x1 } if [e] =~ "\\d\n" { } }`;
  const read = (hasEscapes: boolean): unknown[] => {
    const { sections } = parsePipeline(new SourceText("p.conf", text, hasEscapes));
    const [plugin, branch] = sections[0]!.steps;
    assert.ok(plugin?.kind === "plugin" && branch?.kind === "branch");
    const condition = branch.cases[0]!.condition!;
    assert.ok(condition.kind === "match" && condition.pattern.kind === "string");
    return [...plugin.attributes.flatMap(({ name, value }) => [name, plain(value)]), condition.pattern.value];
  };
  assert.deepEqual(read(true), ["b", '1\t2\n"3"\\4\\d', "c", "'5'", "\0", "x1", "\\d\n"]);
  assert.deepEqual(read(false), [
    "b",
    String.raw`1\t2\n\"3\"\\4\d`,
    "c",
    String.raw`\'5\'`,
    String.raw`\0`,
    "x1",
    String.raw`\\d\n`,
  ]);
});

test("texts of the grammar are read without a fault", () => {
  for (const text of GOOD) assert.deepEqual(parse(text).diagnostics.map(formatDiagnostic), [], text);
});

/** Text with «» around the place that the first fault must name. */
const BAD: [text: string, message: RegExp, hint: RegExp][] = [
  ["«»", /no section/, /filter/],
  ["# only a comment«»", /no section/, /filter/],
  ["«fliter» { }", /"fliter" is not a section/, /did you mean "filter"/],
  ["filter «{»", /never closed/, /closing }/],
  ["filter { drop «{» ", /never closed/, /closing }/],
  ["filter { a { b «=» 1 } }", /"=" after "b"/, /b => value/],
  ["filter { a { b «=» > 1 } }", /"=" after "b"/, /b => value/],
  ["filter { a { b «:» 1 } }", /":" after "b"/, /b => value/],
  ["filter { a { b => 1«,» c => 2 } }", /comma/, /leave the comma out/],
  ["filter { a { b => [1, «]» } }", /comma after the last/, /leave/],
  ['filter { a { b => { "x" => 1 «,» "y" => 2 } } }', /where a key/, /leave the comma out/],
  ["filter { a { b => «x» } }", /at least two characters/, /quotes/],
  ["filter { a { b => «10mb» } }", /is not a number/, /"10mb"/],
  ["filter { a { b => «09» } }", /is not a number/, /octal/],
  ['filter { a { b => «"»open } }', /never closed/, /closing "/],
  ['filter { a { b => "1"«c» => 2 } }', /directly after/, /blank/],
  ["filter { if [a] { } «elsif» [b] { } }", /is not a keyword/, /else if/],
  ["filter { «elseif» [a] { } }", /without an "if"/, /^$/],
  ["filter { «else» { } }", /without an "if"/, /^$/],
  ["filter { if [a] «=» 1 { } }", /is not a comparison/, /==/],
  ["filter { if [a] «&&» [b] { } }", /is not an operator/, /write: and/],
  ["filter { if «(»[a] { } }", /never closed/, /\)/],
  ["filter { if [a] xor [b] «and» [c] { } }", /without parentheses/, /parentheses/],
  ['filter { if «!»"x" { } }', /before a field/, /!\[field\]/],
  ["filter { if «a» == 1 { } }", /"a" is not a value/, /\[a\]/],
  ["filter { «b» => 1 }", /outside of a plugin/, /braces/],
  ["filter { if [a] == «null» { } }", /"null" is not a value/, /!\[field\]/],
  ["filter { if [a] == «true» { } }", /"true" is not a value/, /if \[field\]/],
  ['filter { if ![a] «i»n ["x"] { } }', /where "\{" was expected/, /\[field\] not in/],
  ['filter { if [a] «!»in ["x"] { } }', /where "\{" was expected/, /\[field\] not in/],
  ["filter { if [a] =~ /b/«c»/ { } }", /where "\{" was expected/, /written \\\//],
  ["input { a { b => «/»var/log/x.log } }", /where a value/, /quotes: "\/var\/log\/x\.log"/],
  ["input { a { b => [localhost«:»9200] } }", /in a list/, /quotes: "localhost:9200"/],
  ["«/»/ a comment\nfilter { }", /out of place/, /begins with #/],
];

for (const [marked, message, hint] of BAD) {
  test(`${JSON.stringify(marked.slice(0, 60))} is refused at the marked place with a remedy`, () => {
    const [diagnostic] = parse(marked.replace(/[«»]/g, "")).diagnostics;
    assert.ok(diagnostic !== undefined);
    assert.match(diagnostic.message, message);
    assert.match(diagnostic.hint, hint);
    assert.equal(diagnostic.range.start, marked.indexOf("«"));
  });
}

test("several faults are reported together, each with its line", () => {
  const { diagnostics, sections } = parse(
    "filter {\n  a { b = 1 }\n  c { d => 1 }\n  e { f => x }\n}\noutput { g { h : 2 } }",
  );
  const lines = diagnostics.map(({ range }) => range.source.place(range.start).line);
  assert.deepEqual(lines, [2, 4, 6]);
  assert.equal(sections.length, 2);
});

test("a diagnostic shows file, line, column, the text and a caret", () => {
  const [diagnostic] = parse("filter {\n\tmutate { add_tag = 1 }\n}").diagnostics;
  assert.equal(
    formatDiagnostic(diagnostic!),
    'p.conf:2:19: error: "=" after "add_tag"\n 2 | \tmutate { add_tag = 1 }\n   | \t                 ^\n   = write: add_tag => value',
  );
});

test("values keep their text, numbers their value", () => {
  const { sections } = parse('filter { a { s => "a\\nb" w => ww n => 010 m => -1.5 h => { "k" => [1] } } }');
  const [plugin] = sections[0]!.steps;
  assert.ok(plugin?.kind === "plugin");
  assert.deepEqual(
    plugin.attributes.map(({ name, value }) => [name, plain(value)]),
    [
      ["s", "a\\nb"],
      ["w", "ww"],
      ["n", 8],
      ["m", -1.5],
      ["h", { k: [1] }],
    ],
  );
});

test("and binds tighter than or, equal operators group to the right", () => {
  const rows = [
    ["[a] or [b] and [c]", "(a or (b and c))"],
    ["[a] and [b] or [c]", "((a and b) or c)"],
    ["[a] or [b] or [c]", "(a or (b or c))"],
    ["([a] or [b]) and [c]", "((a or b) and c)"],
    ["[a] and [b] and [c] or [d]", "((a and (b and c)) or d)"],
  ];
  for (const [text, expected] of rows) {
    const [step] = parse(`filter { if ${text} { } }`).sections[0]!.steps;
    assert.ok(step?.kind === "branch");
    assert.equal(shown(step.cases[0]!.condition!), expected);
  }
});

test("the parser survives every prefix of a text and random changes of many", () => {
  const text = GOOD.join("\n");
  for (const each of GOOD) for (let end = 0; end < each.length; end++) parse(each.slice(0, end));
  let seed = 7;
  const random = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed % limit;
  };
  for (let round = 0; round < 1000; round++) {
    const at = random(text.length);
    parse(text.slice(0, at) + '{}[]"=>,#if '[random(12)] + text.slice(at + random(3)));
  }
  parse(`filter { a { b => ${"[".repeat(5000)} } }`);
  parse(`filter { ${"if [a] { ".repeat(5000)}`);
});

function plain(node: ValueNode): unknown {
  if (node.kind === "array") return node.items.map(plain);
  if (node.kind === "hash")
    return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
  return node.kind === "plugin" ? node.name : node.value;
}

function shown(node: ConditionNode): string {
  if (node.kind === "logic") return `(${shown(node.left)} ${node.operator} ${shown(node.right)})`;
  assert.ok(node.kind === "truth");
  return (node.operand as OperandNode & { value: string }).value.slice(1, -1);
}
