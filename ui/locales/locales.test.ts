import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { str } from "@lit/localize";
import { runtimeMsg } from "@lit/localize/internal/runtime-msg.js";
import { compileCatalogue } from "../services/language.ts";
import { GERMAN } from "./de.ts";

const UI = join(import.meta.dirname, "..");
/** A text of msg: in quotes, or a template whose expressions hold no further template. */
const TEXT = /\bmsg\(\s*(?:"((?:[^"\\]|\\.)*)"|str`([^`]*)`)/g;

test("a text is looked up by itself, its values put where the translation wants them", () => {
  const templates = compileCatalogue({ Search: "Suchen", "{0} of {1}": "von {1}: {0}" });
  assert.equal(runtimeMsg(templates, "Search", {}), "Suchen");
  assert.equal(runtimeMsg(templates, str`${3} of ${9}`, {}), "von 9: 3");
  assert.equal(runtimeMsg(templates, "Not there", {}), "Not there");
});

test("a translation holds the values of its text, each once", () => {
  const values = (text: string): string[] => [...text.matchAll(/\{\d\}/g)].map(String).toSorted();
  for (const [source, translation] of Object.entries(GERMAN))
    assert.deepEqual(values(translation), values(source), source);
});

test("nothing is translated that no page says", () => {
  const used = new Set<string>();
  for (const file of globSync(join(UI, "{*,pages/*,components/*,services/**/*}.ts")))
    for (const [, plain, template] of readFileSync(file, "utf8").matchAll(TEXT)) {
      let number = 0;
      const text =
        plain === undefined
          ? template!.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, () => `{${number++}}`)
          : plain;
      used.add(text.replaceAll(/\\(.)/g, "$1"));
    }
  const unused = Object.keys(GERMAN).filter((text) => !used.has(text) && !/\{/.test(text));
  assert.deepEqual(unused, []);
});
