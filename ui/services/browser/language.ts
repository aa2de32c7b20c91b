/**
 * The language of the pages: English as in the sources, others from catalogues that are loaded when they are chosen. It
 * is set before any page is loaded; a change reloads the page, so texts need not react to it.
 */

import { configureLocalization } from "@lit/localize";
import { generateMsgId } from "@lit/localize/internal/id-generation.js";
import { readPreference, writePreference } from "./preferences.ts";

/** Available languages by their tag, each named in itself. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;

export type Language = keyof typeof LANGUAGES;

/** English texts and their translations; `{0}`, `{1}` … stand for the values of a text, by their order in English. */
export type Catalogue = Readonly<Record<string, string>>;

interface Template {
  readonly strTag: true;
  readonly strings: TemplateStringsArray;
  readonly values: number[];
}

/** Returns the chosen language, else the first available one of the browser's. */
export function wantedLanguage(): Language {
  for (const tag of [readPreference("language"), ...navigator.languages]) {
    const language = tag?.slice(0, 2).toLowerCase();
    if (language !== undefined && Object.hasOwn(LANGUAGES, language)) return language as Language;
  }
  return "en";
}

/** Remembers a language, undefined: the browser's, and loads the page again. */
export function chooseLanguage(language: Language | undefined): void {
  writePreference("language", language);
  location.reload();
}

/** Loads the texts of the wanted language. Must come before any page's module: their texts are made at load. */
export async function startLanguage(): Promise<void> {
  const { setLocale } = configureLocalization({
    sourceLocale: "en",
    targetLocales: ["de"],
    loadLocale: async () => ({ templates: compileCatalogue((await import("#ui/locales/de.ts")).GERMAN) }),
  });
  const language = wantedLanguage();
  document.documentElement.lang = language;
  try {
    if (language !== "en") await setLocale(language);
  } catch {
    // Without its catalogue the page is still usable, in English.
    document.documentElement.lang = "en";
  }
}

/** Returns a catalogue as lit-localize looks it up: by a hash of the source text. */
export function compileCatalogue(catalogue: Catalogue): Record<string, string | Template> {
  const templates: Record<string, string | Template> = {};
  for (const [source, translation] of Object.entries(catalogue)) {
    const pieces = source.split(/\{\d\}/);
    const id = generateMsgId(pieces.length === 1 ? source : pieces, false);
    templates[id] = pieces.length === 1 ? translation : toTemplate(translation);
  }
  return templates;
}

function toTemplate(translation: string): Template {
  const strings = translation.split(/\{\d\}/);
  const values = [...translation.matchAll(/\{(\d)\}/g)].map((match) => Number(match[1]));
  return { strTag: true, strings: Object.assign(strings, { raw: strings }), values };
}
