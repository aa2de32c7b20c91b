/** The Porter stemmer for English (M. F. Porter, "An algorithm for suffix stripping", 1980), as Lucene's PorterStemFilter. */

const CONSONANT = "(?:[^aeiouy]|(?<![^aeiou]|^)y|^y)";
const VOWEL = "(?:[aeiou]|(?<=[^aeiou])y)";
const MEASURE_ABOVE_0 = new RegExp(`^${CONSONANT}*${VOWEL}+${CONSONANT}`);
const MEASURE_1 = new RegExp(`^${CONSONANT}*${VOWEL}+${CONSONANT}+${VOWEL}*$`);
const MEASURE_ABOVE_1 = new RegExp(`^${CONSONANT}*(?:${VOWEL}+${CONSONANT}+){2}`);
const HAS_VOWEL = new RegExp(`^${CONSONANT}*${VOWEL}`);
const ENDS_CVC = new RegExp(`^${CONSONANT}+${VOWEL}[^aeiouwxy]$`);

const STEP_2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];

const STEP_3: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const STEP_4 =
  /^(.+?)(ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|ou)$|^(.+?[st])(ion)$/;

/** Returns the stem of a lower-case English word. Characters that English lacks count as consonants. */
export function porterStem(word: string): string {
  if (word.length < 3) return word;
  let stem = step1(word);
  stem = replaceSuffix(stem, STEP_2);
  stem = replaceSuffix(stem, STEP_3);
  stem = step4(stem);
  return step5(stem);
}

function step1(word: string): string {
  let stem = word;
  if (stem.endsWith("sses") || stem.endsWith("ies")) stem = stem.slice(0, -2);
  else if (stem.endsWith("s") && !stem.endsWith("ss")) stem = stem.slice(0, -1);
  if (stem.endsWith("eed")) {
    if (MEASURE_ABOVE_0.test(stem.slice(0, -3))) stem = stem.slice(0, -1);
  } else {
    const match = /^(.*?)(?:ed|ing)$/.exec(stem);
    if (match !== null && HAS_VOWEL.test(match[1]!)) stem = afterRemoval(match[1]!);
  }
  if (stem.endsWith("y") && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  return stem;
}

function afterRemoval(stem: string): string {
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  return MEASURE_1.test(stem) && endsCvc(stem) ? `${stem}e` : stem;
}

function endsCvc(stem: string): boolean {
  return ENDS_CVC.test(stem);
}

function replaceSuffix(word: string, rules: readonly (readonly [string, string])[]): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, -suffix.length);
    return MEASURE_ABOVE_0.test(stem) ? stem + replacement : word;
  }
  return word;
}

function step4(word: string): string {
  const match = STEP_4.exec(word);
  const stem = match?.[1] ?? match?.[3];
  return stem !== undefined && MEASURE_ABOVE_1.test(stem) ? stem : word;
}

function step5(word: string): string {
  let stem = word;
  if (stem.endsWith("e")) {
    const short = stem.slice(0, -1);
    if (MEASURE_ABOVE_1.test(short) || (MEASURE_1.test(short) && !endsCvc(short))) stem = short;
  }
  return stem.endsWith("ll") && MEASURE_ABOVE_1.test(stem) ? stem.slice(0, -1) : stem;
}
