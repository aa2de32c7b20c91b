import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import * as json from "./scanner.ts";

/** Reads a document into objects by the scanner. */
function read(bytes: Uint8Array): unknown {
  const scanner = new json.JsonScanner();
  scanner.reset(bytes);
  const value = (kind: number): unknown => {
    switch (kind) {
      case json.OBJECT: {
        const entries: [string, unknown][] = [];
        for (let first = true; scanner.key(first); first = false)
          entries.push([scanner.text(), value(scanner.value())]);
        return Object.fromEntries(entries);
      }
      case json.ARRAY: {
        const items: unknown[] = [];
        for (let first = true; scanner.element(first); first = false) items.push(value(scanner.value()));
        return items;
      }
      case json.STRING:
        return scanner.text();
      case json.NUMBER:
        return Number(scanner.text());
      default:
        return kind === json.TRUE ? true : kind === json.FALSE ? false : null;
    }
  };
  const result = value(scanner.value());
  scanner.finish();
  return result;
}

function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch {
    return "refused";
  }
}

suite("the JSON scanner", () => {
  test("takes and refuses what JSON.parse does, on mutated documents", () => {
    const random = new Random(11);
    const seeds = [
      '{"a":[1,-2.5e+10,0,true,false,null],"b":{"c":"x\\n\\u00e9\\"","d":"ü€😀"},"":[]}',
      '[ { "k" : "v" } , [ ] , 1E5 , "\\\\" ]',
      '"text"',
      "-0.5",
    ];
    const alphabet = '{}[]",:0123456789.eE+-truefalsn\\u \t\n';
    for (let round = 0; round < 20_000; round++) {
      let text = random.pick(seeds);
      for (let edits = random.below(4); edits > 0; edits--) {
        const at = random.below(text.length + 1);
        const insert = random.oneIn(2) ? alphabet[random.below(alphabet.length)]! : "";
        text = text.slice(0, at) + insert + text.slice(at + random.below(2));
      }
      const bytes = Buffer.from(text);
      const expected = outcome(() => JSON.parse(bytes.toString()));
      assert.deepEqual(
        outcome(() => read(bytes)),
        expected,
        JSON.stringify(text),
      );
    }
  });

  test("refuses documents that are nested too deeply instead of running out of stack", () => {
    assert.throws(() => read(Buffer.from("[".repeat(100_000))), { code: "mapping_parse" });
  });

  test("says that an empty document is empty", () => {
    assert.throws(() => read(new Uint8Array(0)), { message: "failed to parse, document is empty" });
  });

  test("skips values without reading them", () => {
    const scanner = new json.JsonScanner();
    scanner.reset(Buffer.from('{"a":{"x":[1,{"y":"]}"}]},"b":7}'));
    assert.equal(scanner.value(), json.OBJECT);
    assert.equal(scanner.key(true), true);
    scanner.skip(scanner.value());
    assert.equal(scanner.key(false), true);
    assert.equal(scanner.text(), "b");
    scanner.value();
    assert.equal(scanner.wholeNumber(), 7);
  });
});
