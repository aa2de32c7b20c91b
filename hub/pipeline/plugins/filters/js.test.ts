import assert from "node:assert/strict";
import { test } from "node:test";
import type { Filter, FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { Event } from "#proto/event.ts";
import { jsFilter } from "./js.ts";

function make(
  code: string,
  options: Partial<Parameters<typeof jsFilter.create>[0]> = {},
): { filter: Filter; faults: string[] } {
  const faults: string[] = [];
  const context: FilterContext = {
    clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
    random: () => 0,
    place: () => 0,
    shared: new Map(),
    guard: new RegexpGuard(),
    ecs: false,
    isChecked: false,
    variable: () => undefined,
    resolvePath: (path) => path,
    report: (_severity, _option, message) => void faults.push(message),
  };
  const filter = jsFilter.create(
    {
      code,
      script_params: {},
      timeout_millis: 1000,
      memory_limit: "8mb",
      tag_on_exception: "_jsexception",
      tag_with_exception_message: false,
      ...options,
    },
    context,
  );
  return { filter, faults };
}

function run(
  code: string,
  fields: Record<string, unknown>,
  options = {},
): { event: Event; added: Event[]; matched: boolean } {
  const { filter, faults } = make(code, options);
  assert.deepEqual(faults, []);
  const event = new Event(structuredClone(fields), Date.UTC(2024, 0, 1));
  const added: Event[] = [];
  const matched = filter.apply(event, (each) => added.push(each));
  return { event, added, matched };
}

const ROWS: readonly (readonly [code: string, expected: Record<string, unknown>])[] = [
  ["event.set('b', event.get('a') + 1)", { b: 2 }],
  ["event.set('[x][y]', [1, { z: null }])", { x: { y: [1, { z: null }] } }],
  ["event.set('b', event.get('[o][p]')[1])", { b: "second" }],
  ["event.remove('o'); event.tag('t')", { o: undefined, tags: ["t"] }],
  ["event.set('b', event.get('none') === undefined)", { b: true }],
  ["event.set('b', params.p)", { b: "param" }],
  [
    "event.set('t', event.timestamp.getUTCFullYear()); event.set('@timestamp', new Date(0))",
    { t: 2024, "@timestamp": "1970-01-01T00:00:00.000Z" },
  ],
  ["event.set('b', event.sprintf('%{a}-%{+yyyy}'))", { b: "1-2024" }],
  [
    "let v = '['.repeat(1500) + ']'.repeat(1500); event.set('b', JSON.parse(v)); event.set('c', event.get('b') === v)",
    { b: "[".repeat(1_500) + "]".repeat(1_500), c: true },
  ],
  ["event.set('b', Object.keys(event.toHash()).sort().join())", { b: "@timestamp,a,o" }],
  [
    "event.set('b', typeof require + typeof process + typeof fetch + typeof globalThis.host)",
    { b: "undefinedundefinedundefinedundefined" },
  ],
];

test("a script reads and changes its event, and finds nothing of the hub", () => {
  for (const [code, expected] of ROWS) {
    const { event } = run(code, { a: 1, o: { p: ["first", "second"] } }, { script_params: { p: "param" } });
    const fields = JSON.parse(event.toJson()) as Record<string, unknown>;
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(fields[name], value, code);
  }
});

test("a field that holds a decimal holds one after a script set a whole number", () => {
  const { filter } = make(
    `event.set('a', event.get('a') * 2); event.set('b', event.get('b') + 0.5); event.set('c', event.get('c') + 1);
     event.set('o', { ...event.get('o'), n: 2, l: [1, 2, 3] }); event.set('n', 4);
     emit(event.toHash()); emit({ a: 5, z: 5 })`,
  );
  const fields = parseEventObject('{"a":15.0,"b":2.5,"c":1,"o":{"x":3.0,"l":[1.0,2]}}')!;
  const event = new Event(fields, 0);
  const added: Event[] = [];
  filter.apply(event, (each) => added.push(each));
  const [own, whole, other] = [event, ...added].map((each) => each.toJson());
  assert.match(own!, /"a":30\.0,"b":3\.0,"c":2,"o":\{"x":3\.0,"l":\[1\.0,2,3\],"n":2\},.*"n":4\}$/);
  assert.match(whole!, /"a":30\.0,"b":3\.0,"c":2,"o":\{"x":3\.0,"l":\[1\.0,2,3\],"n":2\},.*"n":4\}$/);
  assert.match(other!, /"a":5\.0,"z":5[,}]/);
});

test("a script adds events, cancels its own, and returns that it did nothing", () => {
  const { added, event } = run(
    "for (const n of [1, 2]) { const c = event.clone(); c.set('n', n); emit(c); } emit({ own: 1 }); event.cancel()",
    { m: "x" },
  );
  assert.deepEqual(
    added.map(({ fields }) => [fields["m"], fields["n"], fields["own"]]),
    [
      ["x", 1, undefined],
      ["x", 2, undefined],
      [undefined, undefined, 1],
    ],
  );
  assert.ok(event.cancelled);
  assert.equal(run("return false", {}).matched, false);
  const listed = run("return [new Event({ a: 1 })]", {});
  assert.ok(listed.event.cancelled);
  assert.deepEqual(
    listed.added.map(({ fields }) => fields["a"]),
    [1],
  );
});

test("a script that fails, doesn't end or takes too much memory costs its event a tag and nothing else", () => {
  const options = { timeout_millis: 50, tag_with_exception_message: true };
  for (const [code, tag] of [
    ["throw new TypeError('no')", "_jsexception: TypeError: no"],
    ["for (;;);", "_jsexception: the script was stopped after 50 ms"],
    ["const a = []; for (;;) a.push({ a: [1] })", "_jsexception: the script took more than 8388608 bytes"],
    ["(function f() { f(); })()", "_jsexception: InternalError: stack overflow"],
    ["event.set('[m][x]', 1)", "_jsexception: [m][x]: m is a string, not an object"],
  ] as const) {
    const { filter } = make(code, { ...options, timeout_millis: code.includes("push") ? 5_000 : 50 });
    for (let round = 0; round < 2; round++) {
      const event = new Event({ m: "text" }, 0);
      assert.equal(
        filter.apply(event, () => undefined),
        false,
      );
      assert.deepEqual(event.fields["tags"], [tag], code);
    }
  }
});

test("a sandbox that is torn off in the middle of a call works again at the next one", () => {
  const { filter } = make("if (event.get('loop')) for (;;); event.set('n', globalThis.start + 1)", {
    init: "globalThis.start = 41",
    timeout_millis: 60_000,
  });
  const guard = new RegexpGuard();
  assert.throws(() => guard.limited(() => filter.apply(new Event({ loop: true }, 0), () => undefined), 30));
  const event = new Event({}, 0);
  assert.ok(filter.apply(event, () => undefined));
  assert.equal(event.fields["n"], 42);
});

test("faults of a script's text are reported when the pipeline is compiled", () => {
  assert.match(make("event.set(").faults[0] ?? "", /SyntaxError/);
  assert.match(make("1", { init: "throw new Error('bad start')" }).faults[0] ?? "", /bad start/);
});
