/**
 * The Snowball stemmers (M. F. Porter, snowballstem.org) from a package that is loaded on first use: it is large, and
 * most hubs don't need it. It lacks Lithuanian, whose stemmer by D. Bitinas (snowballstem.org, BSD) is here: endings
 * of cases and persons, then suffixes one by one. Stems of frequent words are cached, because a call takes 5 to 50 µs.
 */

import { createRequire } from "node:module";
import type { Stemmer } from "./suffixes.ts";

const VOWELS = "aeiyouąęįųėū";

/** Where what may be cut begins: after the first vowel and the first consonant after it. */
const KEPT = new RegExp(`^[^${VOWELS}]*[${VOWELS}]+[^${VOWELS}]`);
/** The first letter of long words that begin with it isn't a vowel of the root. */
const KEPT_AFTER_A = new RegExp(`^a[^${VOWELS}]*[${VOWELS}]+[^${VOWELS}]`);
const LONG = 6;

/** Endings of cases and persons, by their last letter or two. */
const ENDINGS = endings(
  "a ia eria osna iosna uosna iuosna ysna ėsna",
  "e ie enie erie oje ioje uje iuje yje enyje eryje ėje ame iame sime ome ėme tumėme",
  "ose iose uose iuose yse enyse eryse ėse ate iate ite kite site ote tute ėte tumėte",
  "i ai iai eriai ei tumei ki imi erimi umi iumi ti enti inti oti ioti uoti iuoti auti iauti yti ėti telėti inėti",
  "terėti ui iui eniui si asi iasi esi iesi siesi isi aisi eisi tumeisi uisi osi ėjosi uosi iuosi siuosi usi ausi",
  "čiausi ąsi ėsi ųsi tųsi oj ėj k am iam iem im sim om tum ėm tumėm an on ion un iun ėn o io enio ėjo uo",
  "s as ias es ies is ais iais tumeis imis enimis omis iomis umis ėmis enis asis ysis ams iams iems ims enims",
  "erims oms ioms ums ėms ens os ios uos iuos ers us aus iaus ius ys enys erys ąs iąs įs ūs tųs",
  "ės amės iamės imės kimės simės omės ėmės tumėmės atės iatės sitės otės ėtės tumėtės",
  "at iat it sit ot ėt tumėt u au iau čiau iu eniu siu y ą ią ė ę į enį erį ų ių erų",
);

/** Suffixes of nouns, adjectives and participles. */
const SUFFIXES = endings(
  "ing aj iaj iej oj ioj uoj iuoj auj ąj iąj ėj ųj iųj ok iok iuk uliuk učiuk išk iul yl ėl am dam jam zgan ain esn",
  "op iop ias ies ais iais os ios uos iuos aus iaus ąs iąs ęs utėait ant iant siant int ot uot iuot yt ėt ykšt iau",
  "dav sv šv ykšč ę ėję",
);

/** Endings that look like others, and what they are. */
const MISTAKEN: readonly (readonly [ending: string, replacement: string])[] = [
  ["aite", "aitė"],
  ["aitės", "aitė"],
  ["uote", "uotė"],
  ["uotės", "uotė"],
  ["okate", "okatė"],
  ["okatės", "okatė"],
  ["ėjime", "ėjimas"],
  ["avime", "avimas"],
  ["ojime", "ojimas"],
  ["esiu", "esys"],
  ["asius", "asys"],
];

interface Endings {
  readonly all: ReadonlySet<string>;
  readonly longest: number;
}

/** Words whose stems are kept per language. */
const KEPT_WORDS = 8192;
/** Longer words are rare and would fill the store. */
const KEPT_LENGTH = 32;

const LANGUAGES: ReadonlySet<string> = new Set([
  "armenian",
  "basque",
  "catalan",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "hungarian",
  "irish",
  "italian",
  "norwegian",
  "porter",
  "portuguese",
  "romanian",
  "russian",
  "spanish",
  "swedish",
  "turkish",
]);

const require = createRequire(import.meta.url);
const made = new Map<string, Stemmer>();

/** Returns the stemmer of a language, in lower case; undefined if there is none. */
export function snowballStemmer(language: string): Stemmer | undefined {
  const known = made.get(language);
  if (known !== undefined) return known;
  const stem = uncachedStemmer(language);
  if (stem === undefined) return undefined;
  const stemmer = cached(stem);
  made.set(language, stemmer);
  return stemmer;
}

function uncachedStemmer(language: string): Stemmer | undefined {
  if (language === "lithuanian") return lithuanianStem;
  if (!LANGUAGES.has(language)) return undefined;
  const { newStemmer } = require("snowball-stemmers") as {
    newStemmer: (language: string) => { stem: (word: string) => string };
  };
  const stemmer = newStemmer(language);
  return (word) => stemmer.stem(word);
}

function cached(stem: Stemmer): Stemmer {
  const kept = new Map<string, string>();
  return (word) => {
    const known = kept.get(word);
    if (known !== undefined) return known;
    const result = stem(word);
    if (word.length <= KEPT_LENGTH) {
      if (kept.size >= KEPT_WORDS) kept.clear();
      kept.set(word, result);
    }
    return result;
  };
}

/** Returns the stem of a word in lower case. */
function lithuanianStem(given: string): string {
  const pattern = given.startsWith("a") && given.length > LONG ? KEPT_AFTER_A : KEPT;
  const kept = pattern.exec(given)?.[0].length ?? given.length;
  const mistaken = MISTAKEN.find(([ending]) => given.endsWith(ending));
  let word = mistaken === undefined ? given : given.slice(0, -mistaken[0].length) + mistaken[1];
  word = withoutSoftening(cut(word, kept, ENDINGS));
  for (;;) {
    const shorter = cut(word, kept, SUFFIXES);
    if (shorter === word) break;
    word = shorter;
  }
  word = withoutSoftening(word);
  return word.endsWith("gd") ? word.slice(0, -1) : word;
}

function endings(...lists: readonly string[]): Endings {
  const all = lists.flatMap((list) => list.split(" "));
  return { all: new Set(all), longest: Math.max(...all.map(({ length }) => length)) };
}

/** Cuts the longest ending that leaves the first `kept` letters. */
function cut(word: string, kept: number, { all, longest }: Endings): string {
  for (let length = Math.min(longest, word.length - kept); length > 0; length--)
    if (all.has(word.slice(-length))) return word.slice(0, -length);
  return word;
}

function withoutSoftening(word: string): string {
  if (word.endsWith("č")) return `${word.slice(0, -1)}t`;
  return word.endsWith("dž") ? word.slice(0, -1) : word;
}
