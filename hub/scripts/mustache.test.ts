import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSharesThread } from "#test/support/kit/shared-thread.ts";
import { compileMustache, TemplateBudget } from "./mustache.ts";

const ROWS: readonly (readonly [template: string, params: Record<string, unknown>, text: string])[] = [
  ["{{a}}-{{{b}}}-{{&b}}", { a: 'x"y', b: 'p"q' }, 'x\\"y-p"q-p"q'],
  ["{{a.b.0}}{{a.b.size}}{{missing}}", { a: { b: [7, 8] } }, "72"],
  ["{{#list}}<{{.}}>{{/list}}{{^none}}no{{/none}}", { list: [1, 2] }, "<1><2>no"],
  ["{{#o}}{{x}}{{y}}{{/o}}", { o: { x: 1 }, y: 2 }, "12"],
  ["{{#toJson}}o{{/toJson}}", { o: { x: ["a"] } }, '{"x":["a"]}'],
  ["{{#join}}l{{/join}} {{#join delimiter='||'}}l{{/join delimiter='||'}}", { l: [1, 2] }, "1,2 1||2"],
  ["{{#url}}a b/{{x}}{{/url}}", { x: "é" }, "a+b%2F%C3%A9"],
  ["a{{! nothing }}b{{=<% %>=}}<% x %>{{x}}", { x: 1 }, "ab1{{x}}"],
];

test("templates of one budget may cost as much as one template", () => {
  const template = compileMustache("{{#l}}{{x}}{{/l}}");
  const params = { l: Array.from({ length: 30_000 }, () => 1) };
  const budget = new TemplateBudget();
  for (let turn = 0; turn < 3; turn++) template.render(params, budget);
  assert.throws(() => template.render(params, budget), /at most 200000 steps/);
  assert.equal(template.render(params), "");
});

test("templates make texts as mustache and the 6.5 server define", () => {
  for (const [template, params, text] of ROWS)
    assert.equal(compileMustache(template).render(params), text, template);
});

test("a template that takes long lets others have the thread", async () => {
  const template = compileMustache("{{#l}}{{#l}}{{#l}}{{/l}}{{#join}}l{{/join}}{{/l}}{{/l}}");
  const params = { l: Array.from({ length: 40 }, () => 1) };
  let text = "";
  await assertSharesThread(async () => {
    text = await template.renderInSlices(params);
  });
  assert.equal(text, template.render(params));
});

test("a template that can't be read is refused with its place", () => {
  assert.throws(
    () => compileMustache("{ {{{my_value}} }"),
    /Improperly closed variable in query-template:1@3/,
  );
  assert.throws(() => compileMustache("{{#a}}"), /Failed to close 'a' tag/);
  assert.throws(() => compileMustache("{{/a}}"), /Unmatched close tag 'a'/);
  assert.throws(() => compileMustache("{{>a}}"), /partial templates are not supported/);
});

test("a template can't make a text without end", () => {
  const template = compileMustache("{{#l}}{{#l}}{{#l}}{{x}}{{/l}}{{/l}}{{/l}}");
  assert.throws(
    () => template.render({ l: Array.from({ length: 100 }, () => 1), x: "x".repeat(100) }),
    /at most 1000000 characters/,
  );
});

test("a template of too many parts is refused before it is rendered", () => {
  assert.throws(() => compileMustache("{{x}}".repeat(200_001)), /at most 200000 parts/);
});

test("sections that write nothing end, too", () => {
  const template = compileMustache("{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}");
  assert.throws(
    () => template.render({ l: Array.from({ length: 10_000 }, () => 1) }),
    /at most 200000 steps/,
  );
});

test("each turn of a section counts what it costs, also where the text is thrown away", () => {
  const list = Array.from({ length: 100_000 }, () => 1);
  const big = "x".repeat(500_000);
  const rows: readonly (readonly [template: string, params: Record<string, unknown>])[] = [
    ["{{#list}}{{#join}}{{#toJson}}big{{/toJson}}{{/join}}{{/list}}", { big, list }],
    ["{{#list}}{{#toJson}}{{#toJson}}big{{/toJson}}{{/toJson}}{{/list}}", { big: list, list }],
    ["{{#list}}{{#join}}{{none}} {{/join}}{{#join}}big{{/join}}{{/list}}", { big: list, list }],
    [`{{#list}}{{${"x.".repeat(400)}x}}{{/list}}`, { list }],
    [`{{#join delimiter='${"-".repeat(900)}'}}list{{/join delimiter='${"-".repeat(900)}'}}`, { list }],
  ];
  for (const [template, params] of rows)
    assert.throws(
      () => compileMustache(template).render(params),
      { code: "request_invalid" },
      template.slice(0, 60),
    );
});

test("names are at most 1000 characters long, also those that are rendered", () => {
  const long = "x.".repeat(501);
  for (const tag of [`{{${long}}}`, `{{{${long}}}}`, `{{#${long}}}{{/${long}}}`, `{{^${long}}}{{/${long}}}`])
    assert.throws(() => compileMustache(tag), /at most 1000 characters/, tag.slice(0, 4));
  const rendered = compileMustache("{{#toJson}}{{long}}{{/toJson}}");
  assert.throws(() => rendered.render({ long }), /at most 1000 characters/);
  assert.equal(compileMustache(`{{! ${long} }}a`).render({}), "a");
});

test("only what params hold themselves is seen", () => {
  for (const name of ["__proto__", "constructor", "a.constructor.name", "l.push", "l.length", "toString"])
    assert.equal(compileMustache(`{{${name}}}`).render({ a: {}, l: [1] }), "", name);
});
