/** Filter i18n: writes accented Latin letters as letters of ASCII. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { list, options } from "#proto/kit/options.ts";

/** Letters that aren't a letter of ASCII with accents, each with what is written for it. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  "Æ=AE Ð=D ×=x Ø=O Þ=Th ß=ss ẞ=SS æ=ae ð=d ø=o þ=th Đ=D đ=d Ħ=H ħ=h ı=i Ĳ=IJ ĳ=ij ĸ=k Ŀ=L ŀ=l Ł=L ł=l ŉ='n Ŋ=NG ŋ=ng Œ=OE œ=oe Ŧ=T ŧ=t"
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** Stands for each character that has no letters of ASCII. */
const UNKNOWN = "?";

export const i18nFilter = defineFilter({
  name: "i18n",
  description: "writes accented Latin letters as letters of ASCII",
  options: options({
    transliterate: list("fields with texts, or lists of texts, to transliterate"),
  }),
  create({ transliterate }) {
    const references = transliterate.map(fieldReference);
    return {
      apply(event) {
        for (const reference of references) {
          const value = event.get(reference);
          if (typeof value === "string") event.set(reference, toAscii(value));
          else if (Array.isArray(value))
            event.set(
              reference,
              value.map((item: unknown) => (typeof item === "string" ? toAscii(item) : item)),
            );
        }
        return true;
      },
    };
  },
});

function toAscii(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[^\0-\x7f]/gu, (letter) => LETTERS.get(letter) ?? withoutAccents(letter));
}

function withoutAccents(letter: string): string {
  const [base = ""] = letter.normalize("NFD");
  return base <= "\x7f" ? base : UNKNOWN;
}
