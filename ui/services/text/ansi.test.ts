import assert from "node:assert/strict";
import { test } from "node:test";
import { splitAnsi, stripAnsi } from "./ansi.ts";

const ESC = "\u001b";

/** Texts with `^` for an escape, and their parts as `look:text`. */
const TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ["plain", [":plain"]],
  ["^[32mINFO^[0m up", ["ansi-2:INFO", ": up"]],
  ["^[1;31mbad^[22m still^[39m not", ["ansi-1 ansi-bold:bad", "ansi-1: still", ": not"]],
  ["^[mx", [":x"]],
  ["^[38;5;196mred^[0m ^[38;2;0;200;0mgreen", ["ansi-1:red", ": ", "ansi-2:green"]],
  ["^[38;5;240mgrey^[4mline", [":grey", "ansi-underline:line"]],
  ["^[97;44mon blue", ["ansi-4 ansi-on:on blue"]],
  ["^[30mblack^[2mdim", [":black", "ansi-dim:dim"]],
  ["^[2K^[1Gmoved^]0;title^\\", [":moved"]],
  ["cut ^[3", [":cut ^[3"]],
  ["all of ^]it is shown", [":all of ^]it is shown"]],
  ["a ^]0;b ^[31mc", [":a ^]0;b ", "ansi-1:c"]],
];

test("a sequence has 32 numbers at most, and a long one takes no time", () => {
  assert.equal(splitAnsi(`${ESC}[${"0;".repeat(31)}31mred`)[0]!.look, "ansi-1");
  assert.equal(splitAnsi(`${ESC}[${"0;".repeat(32)}31mred`)[0]!.look, "");
  const before = process.threadCpuUsage();
  assert.deepEqual(splitAnsi(`${ESC}[${"38;".repeat(33_000)}mplain`), [{ text: "plain", look: "" }]);
  // Processor time: the clock would also count waits for a processor.
  assert.ok(process.threadCpuUsage(before).user < 2_000_000);
});

test("escape sequences become looks, and no others are shown", () => {
  for (const [text, parts] of TEXTS) {
    const found = splitAnsi(text.replaceAll("^", ESC)).map(
      (part) => `${part.look}:${part.text.replaceAll(ESC, "^")}`,
    );
    assert.deepEqual(found, parts, text);
  }
});

test("a text without its sequences is the text of its parts", () => {
  for (const [text] of TEXTS) {
    const escaped = text.replaceAll("^", ESC);
    assert.equal(
      stripAnsi(escaped),
      splitAnsi(escaped)
        .map((part) => part.text)
        .join(""),
    );
  }
});
