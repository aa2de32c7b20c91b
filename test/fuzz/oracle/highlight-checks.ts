/**
 * Highlights: fragments without their marks are parts of a value, marks stand around the words that the query looks for, and where a
 * whole value is shown around all of them. Which parts of a long text are shown is not expected: no documentation says it.
 */

import { WORDS } from "./corpus.ts";
import type { Dice } from "./dice.ts";
import { type Item, type Json, textsOf, tokens } from "./documents.ts";
import { isSimilar } from "./edit-distance.ts";
import { faultText } from "./fault-text.ts";
import type { Subject } from "./question.ts";
import type { Hit, SearchedIndex } from "./searched-index.ts";
import { phraseTest, someWords } from "./text-queries.ts";

const MOST_HITS = 20;
const [BEGIN, END] = ["<b>", "</b>"];

interface Asked {
  readonly type: string;
  /** 0: whole values. */
  readonly most: number;
}

interface Wanted {
  readonly query: Json;
  /** Whether the query looks for a word. */
  readonly marks: (word: string) => boolean;
  /** Of a phrase: whether a text has it. Its words alone aren't marked. */
  readonly hasPhrase?: (words: readonly string[]) => boolean;
}

export async function highlights(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const type = dice.pick(["unified", "plain", "fvh"]);
  // The other field has no term vectors, which fvh needs.
  const field = type === "fvh" ? "t" : dice.pick(["t", "s"]);
  const fragments = dice.pick([0, 0, 1, 3]);
  const wanted = randomWanted(subject, field);
  const options = { type, number_of_fragments: fragments, fragment_size: dice.pick([18, 40, 100]) };
  const body: Json = {
    query: wanted.query,
    size: MOST_HITS,
    sort: [{ u: "asc" }],
    _source: false,
    highlight: { pre_tags: [BEGIN], post_tags: [END], fields: { [field]: options } },
  };
  const byId = new Map(subject.items.map((item) => [item.id, item]));
  const { hits } = await index.search(body);
  for (const hit of hits.hits) {
    const item = byId.get(hit._id);
    const fault =
      item === undefined
        ? `${hit._id} isn't there`
        : hitFault(item, hit, field, wanted, { type, most: fragments });
    if (fault !== undefined)
      return faultText(
        `${fault}: ${JSON.stringify(hit.highlight)} of ${JSON.stringify(item && textsOf(item, field))}`,
        body,
      );
  }
  return undefined;
}

function randomWanted(subject: Subject, field: string): Wanted {
  const { dice } = subject;
  const words = someWords(subject, 3);
  const isAsked = (word: string): boolean => words.includes(word);
  switch (dice.below(6)) {
    case 0:
      return { query: { match: { [field]: words.join(" ") } }, marks: isAsked };
    case 1: {
      const not = [{ match: { [field]: otherWord(dice, words) } }];
      return {
        query: { bool: { must: [{ match: { [field]: words.join(" ") } }], must_not: not } },
        marks: isAsked,
      };
    }
    case 2: {
      const hasPhrase = phraseTest(words, 0);
      return { query: { match_phrase: { [field]: words.join(" ") } }, marks: isAsked, hasPhrase };
    }
    case 3: {
      const start = words[0]!.slice(0, 3);
      return { query: { prefix: { [field]: start } }, marks: (word) => word.startsWith(start) };
    }
    case 4: {
      const marks = (word: string): boolean => isSimilar(word, words[0]!, 1, 0);
      return { query: { match: { [field]: { query: words[0], fuzziness: 1 } } }, marks };
    }
    default: {
      const query = words.map((word) => `${field}:${word}`).join(" OR ");
      return { query: { query_string: { query } }, marks: isAsked };
    }
  }
}

function otherWord(dice: Dice, words: readonly string[]): string {
  return dice.pick(WORDS.filter((word) => !words.includes(word)));
}

function hitFault(
  item: Item,
  { highlight }: Hit,
  field: string,
  wanted: Wanted,
  { type, most }: Asked,
): string | undefined {
  const texts = textsOf(item, field);
  const shown = highlight?.[field] ?? [];
  const matching = texts.filter((text) => isMarked(tokens(text), wanted));
  if (matching.length > 0 && shown.length === 0) return "nothing is marked";
  if (most > 0 && shown.length > most) return `there are ${shown.length} fragments`;
  for (const fragment of shown) {
    const plain = fragment.replaceAll(BEGIN, "").replaceAll(END, "");
    if (!texts.some((text) => text.includes(plain))) return `${fragment} is part of no value`;
    const marked = [...fragment.matchAll(/<b>(.*?)<\/b>/g)].flatMap(([, text]) => tokens(text!));
    // fvh shows the values between others that match as well, and ends a fragment with words that it doesn't mark.
    const isExact = type !== "fvh" || most === 0;
    if (marked.length === 0 && type !== "fvh") return `${fragment} has no mark`;
    const wrong = marked.find((word) => !wanted.marks(word));
    if (wrong !== undefined) return `${wrong} is marked`;
    const unmarked = tokens(fragment.replaceAll(/<b>.*?<\/b>/g, " ")).find(wanted.marks);
    if (unmarked !== undefined && isExact && wanted.hasPhrase === undefined)
      return `${unmarked} isn't marked in ${fragment}`;
  }
  const whole = shown.map((fragment) => fragment.replaceAll(BEGIN, "").replaceAll(END, ""));
  const hidden = most === 0 ? matching.find((text) => !whole.includes(text)) : undefined;
  return hidden === undefined ? undefined : `${hidden} isn't shown`;
}

function isMarked(words: readonly string[], { marks, hasPhrase }: Wanted): boolean {
  return hasPhrase === undefined ? words.some(marks) : hasPhrase(words);
}
