import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { str } from "@lit/localize";
import { runtimeMsg } from "@lit/localize/internal/runtime-msg.js";
import { bareTextsOf, messagesOf } from "#test/support/ui/texts-in-sources.ts";
import { compileCatalogue } from "#ui/services/browser/language.ts";
import { GERMAN } from "./de.ts";

const UI = join(import.meta.dirname, "..");
const SOURCES = globSync(join(UI, "{*,{pages,components,services}/**/*}.ts"))
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => ({ file: file.slice(UI.length + 1), source: readFileSync(file, "utf8") }));

/** What is written the same in every language: names, commands, fields, units, examples of input. */
const SAME_EVERYWHERE =
  /^(Tailrace|UTC|ms|_id|tailrace-agent .*|client_(id|secret)|\/(api|o|token)\S*|https:\/\/…\S*|api\.example\.com|audit|connection =&gt; "…"|index\.refresh_interval|5s|billing import|logs-\*.*|30d|50gb|log\.level:.*|message:deployed)$/;

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

test("the texts of a source are found, templates within templates too", () => {
  const source = `a(msg("one")); html\`<b title="two">\${c ? html\`three \${msg(str\`\${\`}\`} of "\${{ d: 4 }.d}"\`)}\` : ""}</b>\``;
  assert.deepEqual(messagesOf(source), ["one", '{0} of "{1}"']);
  assert.deepEqual(bareTextsOf(source), ["two", "three"]);
});

test("every text of the pages is there in German, and nothing is translated that no page says", () => {
  const used = new Set(SOURCES.flatMap(({ source }) => messagesOf(source)));
  assert.deepEqual(
    [...used].filter((text) => !Object.hasOwn(GERMAN, text)),
    [],
  );
  assert.deepEqual(
    Object.keys(GERMAN).filter((text) => !used.has(text)),
    [],
  );
});

test("no element holds words that can't be translated", () => {
  const bare = SOURCES.flatMap(({ file, source }) => bareTextsOf(source).map((text) => ({ file, text })));
  assert.deepEqual(
    bare.filter(({ text }) => !SAME_EVERYWHERE.test(text)),
    [],
  );
});

test("no file that is loaded before the language is chosen has texts, which would stay English", () => {
  const sources = new Map(SOURCES.map(({ file, source }) => [file, source]));
  const loaded = new Set(["main.ts"]);
  for (const file of loaded)
    for (const [, from = ""] of (sources.get(file) ?? "").matchAll(
      /^(?:import|export) (?!type)[^;]*?"(.+)";/gm,
    ))
      if (from.startsWith("#ui/")) loaded.add(from.slice("#ui/".length));
      else if (from.startsWith(".")) loaded.add(join(file, "..", from));
  assert.ok(loaded.has("services/search/time-range.ts"));
  assert.deepEqual(
    [...loaded].filter((file) => messagesOf(sources.get(file) ?? "").length > 0),
    [],
  );
});
