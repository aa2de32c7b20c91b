import assert from "node:assert/strict";
import { test } from "node:test";
import { formatField, splitLinks } from "./field-format.ts";

const VALUES: readonly (readonly [string, unknown, string | undefined])[] = [
  ["http.response.body.bytes", 43_210, "43.2 kB"],
  ["http.response.body.bytes", 43, undefined],
  ["bytes", 1_500_000, "1.5 MB"],
  ["event.duration", 12_345_670, "12.3 ms"],
  ["event.duration", 900, "900 ns"],
  ["took_ms", 1_500, "1.5 s"],
  ["duration.seconds", 125, "2 min 5 s"],
  ["elapsed_s", 7_260, "2 h 1 min"],
  ["latency_us", 950, "950 µs"],
  ["http.response.status_code", 500, undefined],
  ["status", 200, undefined],
  ["items", 3_000, undefined],
  ["took_ms", "1500", undefined],
  ["took_ms", Number.NaN, undefined],
];

test("sizes and lengths of time are known by the last word of a field's name", () => {
  for (const [name, value, expected] of VALUES)
    assert.equal(formatField(name, value)?.text, expected, `${name} ${String(value)}`);
});

test("a value that is an address as a whole is a link", () => {
  assert.equal(formatField("url", "https://example.com/a?b=c")?.href, "https://example.com/a?b=c");
  assert.equal(formatField("url", "see https://example.com"), undefined);
  assert.equal(formatField("url", "javascript:alert(1)"), undefined);
});

test("half a surrogate pair in a value breaks no link", () => {
  const format = { kind: "link", template: "https://tickets.example/{value}" } as const;
  assert.equal(formatField("ticket", "a\ud83d", format)?.href, "https://tickets.example/a%EF%BF%BD");
});

test("addresses in a text are cut out without the sentence's own signs", () => {
  assert.deepEqual(splitLinks("see (https://example.com/a), or http://b.example."), [
    { text: "see (", href: undefined },
    { text: "https://example.com/a", href: "https://example.com/a" },
    { text: "), or ", href: undefined },
    { text: "http://b.example", href: "http://b.example" },
    { text: ".", href: undefined },
  ]);
  assert.deepEqual(splitLinks(""), [{ text: "", href: undefined }]);
});
