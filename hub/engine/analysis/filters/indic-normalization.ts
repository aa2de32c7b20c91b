/** Composes letters of Indian scripts that are written in parts (Unicode, chapter South Asian Scripts). */

/** Blocks of 128 code points by the letter that the table has for them; P is Gurmukhi, E Telugu. */
const BLOCKS: Readonly<Record<string, number>> = {
  D: 0x0900,
  B: 0x0980,
  P: 0x0a00,
  G: 0x0a80,
  O: 0x0b00,
  T: 0x0b80,
  E: 0x0c00,
  K: 0x0c80,
  M: 0x0d00,
};

/** Parts, `>` and the whole as offsets in a block, in hexadecimal; then the blocks. Z is the zero-width joiner. First match counts. */
const COMPOSITIONS = `
  053E45>11DG 053E46>12D 053E47>13DG 053E48>14DG 053E>06DBPGO 0545>72D 0545>0DG 0546>04D 0547>0FG 0548>10PG
  0549>11DG 054A>12D 054B>13DG 054C>14DPG 0645>11DG 0646>12D 0647>13DG 0648>14DG 0757>08M 0941>0AD 0957>0ATM
  0E46>10M 0F45>0DD 0F46>0ED 0F47>10D 0F57>10O 123E>13M 124C>14EK 1255>13E 1257>14TM 1357>14O 153C>58D 163C>59DP
  173C>5ADP 1C3C>5BDP 213C>5CDBO 223C>5DDBO 234DZ>7AM 244DZ>4EB 283C>29D 284DZ>7BM 2B3C>5EDP 2F3C>5FDB 2C4141>0BE
  303C>31D 304DZ>7CM 324DZ>7DM 333C>34D 334DZ>7EM 3541>2EE 3E45>49DG 3E46>4AD 3E47>4BDG 3E48>4CDG 3F55>40K
  4141>42P 463E>4ATM 464255>4BK 4642>4AK 4646>48M 4655>47EK 4656>48EK 4657>4CTM 473E>4BBOTM 4757>4CBO 4A55>4BK
  723F>07P 7240>08P 7247>0FP 7341>09P 7342>0AP 734B>13P`;

let made: { readonly pattern: RegExp; readonly whole: ReadonlyMap<string, string> } | undefined;

/** Returns the text with its letters composed. */
export function indic(text: string): string {
  made ??= compile();
  const { pattern, whole } = made;
  return text.replace(pattern, (parts) => whole.get(parts)!);
}

function compile(): { readonly pattern: RegExp; readonly whole: ReadonlyMap<string, string> } {
  const whole = new Map<string, string>();
  for (const row of COMPOSITIONS.trim().split(/\s+/)) {
    const [parts, rest] = row.split(">") as [string, string];
    const offsets = parts.match(/Z|../g)!;
    for (const block of rest.slice(2)) {
      const base = BLOCKS[block]!;
      const letter = (offset: string): string =>
        offset === "Z" ? "\u200d" : String.fromCharCode(base + Number.parseInt(offset, 16));
      const key = offsets.map(letter).join("");
      if (!whole.has(key)) whole.set(key, letter(rest.slice(0, 2)));
    }
  }
  const longestFirst = [...whole.keys()].sort((a, b) => b.length - a.length);
  return { pattern: new RegExp(longestFirst.join("|"), "g"), whole };
}
