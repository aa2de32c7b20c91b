import assert from "node:assert/strict";
import { test } from "node:test";
import { printable, printableJson, printableLines, withoutSteering } from "./printable.ts";

/** ESC, CSI of C1, DEL, a line separator, an override of direction: none may reach a terminal. */
const STEERING = ["\u001b", "\u009b", "\u007f", "\u2028", "\u202e", "\u2066", "\r", "\n", "\b"];

test("what steers a terminal becomes a blank, all other text stays", () => {
  for (const character of STEERING) assert.equal(printable(`a${character}[2Jb`), "a [2Jb");
  assert.equal(printable("Grüße, 日本, שלום \u200f!"), "Grüße, 日本, שלום \u200f!");
});

test("a text of several lines keeps its line feeds alone", () => {
  assert.equal(
    printableLines("127.0.0.1 answered: \u001b]0;x\u0007\r\nagain\n"),
    "127.0.0.1 answered:  ]0;x  \nagain\n",
  );
});

test("JSON holds the same value, none of it raw", () => {
  const value = { [`key${STEERING.join("")}`]: STEERING, text: "Grüße \\u001b" };
  for (const json of [printableJson(value), printableJson(value, 2)]) {
    assert.deepEqual(JSON.parse(json), value);
    assert.doesNotMatch(json.replaceAll("\n", ""), /[\p{Cc}\u2028\u202e\u2066]/u);
  }
});

test("a line of a log loses them in its strings and stays JSON", () => {
  const line = JSON.stringify({
    msg: "a\u001b]0;x\u0007\u009b2Jb",
    path: "C:\\u001b\\\u001b",
    err: "one\n\ttwo",
  });
  const { msg, path, err } = JSON.parse(withoutSteering(line)) as Record<string, string>;
  assert.equal(msg, "a\ufffd]0;x\ufffd\ufffd2Jb");
  assert.equal(path, "C:\\u001b\\\ufffd");
  assert.equal(err, "one\n\ttwo", "a stack stays readable");
});
