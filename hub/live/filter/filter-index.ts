/**
 * Finds the few filters of all viewers that an event may match, so that the cost of an event grows with its matches and
 * not with the number of viewers. Never leaves out a filter that matches.
 *
 * A filter is found in the best of three ways: by a field's word that each match has (`level:error`), by a run of three
 * bytes that each match contains, or by evaluating it for each event.
 */

import type { EventDocument } from "./event-document.ts";
import type { Filter } from "./filter.ts";
import { GRAM_SLOTS, GramReader } from "./grams.ts";

interface Entry<T> {
  readonly item: T;
  readonly filter: Filter;
  /** The slot by which it is found or announced; undefined: none. */
  readonly slot: number | undefined;
  /** Number of the last event that found it: one event may have two of its words. */
  foundBy: number;
}

/** Values of a field by which filters are found. */
type Words<T> = Map<string, Set<Entry<T>>>;

export class FilterIndex<T> {
  readonly #entries = new Map<T, Entry<T>>();
  /** Evaluated for each event. */
  readonly #others = new Set<Entry<T>>();
  /** Found by a gram; an array because it is read some hundred times for each event. */
  readonly #bySlot: (Set<Entry<T>> | undefined)[] = Array.from({ length: GRAM_SLOTS }, () => undefined);
  /** Found by a word. */
  readonly #byField = new Map<string, Words<T>>();
  /** Per slot, the number of word filters that also need its gram: events without any such gram aren't decoded for them. */
  readonly #announced = new Uint32Array(GRAM_SLOTS);
  #inSlots = 0;
  /** Number of word filters without a slot: any event may match them. */
  #unannounced = 0;
  readonly #grams = new GramReader();
  #events = 0;

  /** Adds an item and the filter by which it is found; an item is added once. */
  add(item: T, filter: Filter): void {
    const slot = this.#rarestOf(filter.grams);
    const entry: Entry<T> = { item, filter, slot, foundBy: 0 };
    this.#entries.set(item, entry);
    if (filter.words.length > 0) {
      for (const { field, word } of filter.words) this.#addWord(field, word, entry);
      if (slot === undefined) this.#unannounced += 1;
      else this.#announced[slot]! += 1;
    } else if (slot === undefined) this.#others.add(entry);
    else {
      this.#bySlot[slot] = (this.#bySlot[slot] ?? new Set()).add(entry);
      this.#inSlots += 1;
    }
  }

  delete(item: T): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    const { filter, slot } = entry;
    if (filter.words.length > 0) {
      for (const { field, word } of filter.words) this.#deleteWord(field, word, entry);
      if (slot === undefined) this.#unannounced -= 1;
      else this.#announced[slot]! -= 1;
    } else if (slot === undefined) this.#others.delete(entry);
    else {
      this.#bySlot[slot]!.delete(entry);
      if (this.#bySlot[slot]!.size === 0) this.#bySlot[slot] = undefined;
      this.#inSlots -= 1;
    }
  }

  /** Calls `take` with each item whose filter `document` matches, once. */
  forEachMatch(document: EventDocument, take: (item: T) => void): void {
    this.#events += 1;
    const ask = (entry: Entry<T>): void => {
      if (entry.foundBy === this.#events) return;
      entry.foundBy = this.#events;
      if (entry.filter.matches(document)) take(entry.item);
    };
    for (const entry of this.#others) ask(entry);
    if (this.#forGrams(document, ask)) this.#forWords(document, ask);
  }

  /** Returns true if filters that are found by words may match. */
  #forGrams(document: EventDocument, ask: (entry: Entry<T>) => void): boolean {
    let isAnnounced = this.#unannounced > 0;
    if (this.#inSlots === 0 && (isAnnounced || this.#byField.size === 0)) return isAnnounced;
    const count = this.#grams.read(document.event.source);
    if (count === undefined) {
      for (const set of this.#bySlot) if (set !== undefined) for (const entry of set) ask(entry);
      return true;
    }
    const { slots } = this.#grams;
    for (let at = 0; at < count; at++) {
      const slot = slots[at]!;
      const set = this.#bySlot[slot];
      if (set !== undefined) for (const entry of set) ask(entry);
      if (this.#announced[slot]! > 0) isAnnounced = true;
    }
    return isAnnounced;
  }

  #forWords(document: EventDocument, ask: (entry: Entry<T>) => void): void {
    for (const [field, words] of this.#byField)
      for (const word of document.words(field)) {
        const set = words.get(word);
        if (set !== undefined) for (const entry of set) ask(entry);
      }
  }

  /** Returns the slot with the fewest filters. */
  #rarestOf(grams: readonly number[]): number | undefined {
    const sizeOf = (slot: number): number => this.#bySlot[slot]?.size ?? 0;
    return grams.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0];
  }

  #addWord(field: string, word: string, entry: Entry<T>): void {
    const words: Words<T> = this.#byField.get(field) ?? new Map();
    this.#byField.set(field, words);
    words.set(word, (words.get(word) ?? new Set()).add(entry));
  }

  #deleteWord(field: string, word: string, entry: Entry<T>): void {
    const words = this.#byField.get(field);
    const set = words?.get(word);
    if (words === undefined || set === undefined) return;
    set.delete(entry);
    if (set.size === 0) words.delete(word);
    if (words.size === 0) this.#byField.delete(field);
  }
}
