import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ingestPatterns, listedPatterns } from "./grok-versions.ts";

const REFERENCE = /%\{(\w+)/g;

test("as many grok patterns are listed as a server of that version has, and they name no others", () => {
  for (const [version, count] of [
    [605, 303],
    [710, 312],
    [717, 318],
    [815, 318],
  ] as const) {
    const listed = listedPatterns(false, version);
    assert.equal(Object.keys(listed).length, count, String(version));
    for (const [name, text] of Object.entries(listed))
      for (const [, part] of text.matchAll(REFERENCE))
        assert.ok(Object.hasOwn(listed, part!), `${name} names ${part}`);
  }
});

test("grok patterns have the fields of their version", () => {
  const fieldsOf = (name: string, version: number): (string | undefined)[] => {
    const text = ingestPatterns(false, version).get(name) ?? "";
    return [...text.matchAll(/%\{\w+:(\w+)/g)].map(([, field]) => field);
  };
  assert.equal(fieldsOf("HTTPD20_ERRORLOG", 605).at(-1), "errormsg");
  assert.equal(fieldsOf("HTTPD20_ERRORLOG", 716).at(-1), "message");
  assert.ok(fieldsOf("HTTPD24_ERRORLOG", 710).includes("client"));
  assert.ok(fieldsOf("HTTPD24_ERRORLOG", 717).includes("clientip"));
  assert.ok(fieldsOf("S3_REQUEST_LINE", 815).includes("rawrequest"));
  assert.equal(ingestPatterns(true, 605), ingestPatterns(true, 717));
});
