/** Colours of terminals in texts: the escape sequences of ECMA-48 (SGR) become looks, all others are left out. */

/** A part of a text with one look. */
export interface ColouredPart {
  readonly text: string;
  /** Class names: `ansi-1` to `ansi-6`, `ansi-dim`, `ansi-on` for a ground, `ansi-bold`, `ansi-underline`; "": none. */
  readonly look: string;
}

interface Look {
  /** 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan; 0 the text's own. */
  colour: number;
  ground: number;
  isBold: boolean;
  isDim: boolean;
  isUnderlined: boolean;
}

const ESCAPE = "\u001b";
const BELL = "\u0007";
/** Control sequences with their numbers and their last letter, operating system commands with their end, and single ones. */
const SEQUENCE = new RegExp(
  `${ESCAPE}(?:\\[([0-9;:?<=>]*)[ -/]*([@-~])|\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)|[@-Z\\\\^_])`,
  "g",
);
const PLAIN: Look = { colour: 0, ground: 0, isBold: false, isDim: false, isUnderlined: false };
/** Numbers of a sequence that count: no program writes as many. */
const MAX_NUMBERS = 32;
/** Numbers that follow one of an extended colour. */
const MAX_EXTENDED = 5;
/** Of a cube of six steps, and of 256 shades: brighter parts count. */
const CUBE = 6;
const BRIGHT_STEP = 3;
const BRIGHT_SHADE = 128;

/** Returns a text without its escape sequences. */
export function stripAnsi(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(SEQUENCE, "") : text;
}

/** Returns the parts of a text by their looks; one part without a look where it has no escape sequence. */
export function splitAnsi(text: string): readonly ColouredPart[] {
  if (!text.includes(ESCAPE)) return [{ text, look: "" }];
  const parts: ColouredPart[] = [];
  let look = PLAIN;
  let at = 0;
  const add = (piece: string): void => {
    if (piece !== "") parts.push({ text: piece, look: lookText(look) });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") look = changed(look, match[1]!);
  }
  add(text.slice(at));
  return parts;
}

/** Returns the look after a sequence's numbers; those that mean nothing here are left out. */
function changed(before: Look, numbers: string): Look {
  const codes = numbers.split(/[;:]/, MAX_NUMBERS).map(Number);
  let look = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) look = { ...PLAIN };
    else if (code === 1) look.isBold = true;
    else if (code === 2) look.isDim = true;
    else if (code === 4) look.isUnderlined = true;
    else if (code === 22) look.isBold = look.isDim = false;
    else if (code === 24) look.isUnderlined = false;
    else if (code === 38 || code === 48) {
      const { colour, length } = extended(codes.slice(at + 1, at + 1 + MAX_EXTENDED));
      if (code === 38) look.colour = colour;
      else look.ground = colour;
      at += length;
    } else if (code >= 30 && code <= 39) look.colour = hueOf(code - 30);
    else if (code >= 40 && code <= 49) look.ground = hueOf(code - 40);
    else if (code >= 90 && code <= 97) look.colour = hueOf(code - 90);
    else if (code >= 100 && code <= 107) look.ground = hueOf(code - 100);
  }
  return look;
}

/** Returns the nearest hue of `5;N` or `2;R;G;B`, and how many numbers that took. */
function extended([kind, ...rest]: readonly number[]): { readonly colour: number; readonly length: number } {
  if (kind === 2) return { colour: hueOfShades(rest.slice(0, 3), BRIGHT_SHADE), length: 4 };
  if (kind !== 5) return { colour: 0, length: 1 };
  const number = rest[0] ?? 0;
  if (number < 16) return { colour: hueOf(number % 8), length: 2 };
  if (number > 231) return { colour: 0, length: 2 };
  const cube = number - 16;
  const steps = [Math.floor(cube / (CUBE * CUBE)), Math.floor(cube / CUBE) % CUBE, cube % CUBE];
  return { colour: hueOfShades(steps, BRIGHT_STEP), length: 2 };
}

/** Black and white would vanish on one of both grounds: they are the text's own colour. */
function hueOf(code: number): number {
  return code >= 1 && code <= 6 ? code : 0;
}

function hueOfShades(shades: readonly number[], bright: number): number {
  const bits = shades.map((shade, bit) => (shade >= bright ? 2 ** bit : 0));
  return hueOf(bits.reduce((sum, bit) => sum + bit, 0));
}

function lookText({ colour, ground, isBold, isDim, isUnderlined }: Look): string {
  const hue = ground > 0 ? ground : colour;
  return [
    hue > 0 ? `ansi-${hue}` : "",
    ground > 0 ? "ansi-on" : "",
    isBold ? "ansi-bold" : "",
    isDim && hue === 0 ? "ansi-dim" : "",
    isUnderlined ? "ansi-underline" : "",
  ]
    .filter((name) => name !== "")
    .join(" ");
}
