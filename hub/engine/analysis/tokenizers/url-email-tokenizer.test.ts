import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Address, type Characters, findAddresses, urlEmailTokenizer } from "./url-email-tokenizer.ts";

/** Every address that the pattern finds is one; it tries each place again, so it is for short texts only. */
const PATTERN =
  /(?:[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)|(?:(?:https?|ftp|file):\/\/[^\s"<>]*[^\s"<>.,;:!?)\]}])/gi;

const PARTS = [
  "a",
  "b@c",
  "@",
  ".",
  "..",
  "-",
  "x.org",
  "http://",
  "FTP://",
  "files://",
  " ",
  '"',
  ",",
  "é",
  "://",
  "s",
];

function found(text: string): string[] {
  return Array.from(
    findAddresses(text),
    ({ start, end, type }: Address) => `${type}${text.slice(start, end)}`,
  );
}

/** A text that counts the characters looked at. */
class CountedText implements Characters {
  readonly length: number;
  looks = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.length = text.length;
  }

  charCodeAt(at: number): number {
    this.looks++;
    return this.#text.charCodeAt(at);
  }

  indexOf(part: string, from = 0): number {
    const at = this.#text.indexOf(part, from);
    this.looks += (at < 0 ? this.length : at) - from;
    return at;
  }
}

suite("uax_url_email", () => {
  test("finds the addresses that the pattern finds, in texts of all kinds of parts", () => {
    let state = 7;
    const below = (limit: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (state >> 8) % limit;
    };
    for (let round = 0; round < 5_000; round++) {
      const text = Array.from({ length: 1 + below(9) }, () => PARTS[below(PARTS.length)]).join("");
      const expected = Array.from(text.matchAll(PATTERN), ([match]) =>
        match.includes("://") ? `<URL>${match}` : `<EMAIL>${match}`,
      );
      assert.deepEqual(found(text), expected, text);
    }
  });

  test("gives addresses and the words between them as tokens with their places", () => {
    const tokens = urlEmailTokenizer(255)("mail me@x.org or http://x.org/a.");
    assert.deepEqual(
      tokens.map(({ text, type, startOffset, position }) => [text, type, startOffset, position]),
      [
        ["mail", "<ALPHANUM>", 0, 0],
        ["me@x.org", "<EMAIL>", 5, 1],
        ["or", "<ALPHANUM>", 14, 2],
        ["http://x.org/a", "<URL>", 17, 3],
      ],
    );
  });

  for (const [name, make] of [
    ["one long word", (size: number) => "a".repeat(size)],
    ["a mailbox without host", (size: number) => `${"a".repeat(size / 2)}@${"b".repeat(size / 2)}`],
    ["many mailboxes without host", (size: number) => "ab@".repeat(size / 3)],
    ["many schemes", (size: number) => "http://".repeat(size / 7)],
    ["a scheme with nothing but punctuation", (size: number) => `http://${".".repeat(size)}`],
    ["many schemes with nothing but punctuation", (size: number) => 'http://."'.repeat(size / 9)],
    ["many addresses of both kinds", (size: number) => "a@b.c http://d ".repeat(size / 15)],
  ] as const) {
    test(`looks at each character a few times at most in ${name}`, () => {
      for (const size of [10_000, 100_000]) {
        const text = new CountedText(make(size));
        for (const address of findAddresses(text)) assert.ok(address.end <= text.length);
        assert.ok(text.looks <= 10 * text.length, `${text.looks} looks at ${text.length} characters`);
      }
    });
  }
});
