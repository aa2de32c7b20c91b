/** What calls of methods cost beyond their one step, where the time grows with what they read. Others spend it themselves. */

import { type CallContext, isMap, ScriptObject, weigh } from "#hub/scripts/values/values.ts";

/** Characters of a text that one step reads; a text is compared and copied much faster than a list. */
const CHARS_A_STEP = 64;
/** Members of a list or set that one step copies or compares. */
const MEMBERS_A_STEP = 8;
/** Replacing in a text builds it again piece by piece: 8 characters a step. */
const REPLACED_SHIFT = 3;
/** Where a text is sought in another, so many of its characters double the time. */
const SOUGHT_A_STEP = 16;

/** Take the same time whatever the length of the text is. */
const QUICK_ON_TEXTS = new Set("length isEmpty charAt codePointAt substring subSequence toString".split(" "));
const SEEKING = new Set("contains indexOf lastIndexOf replace splitOnToken".split(" "));
/** Take the same time however many members there are, or spend it themselves. */
const QUICK_ON_MEMBERS = new Set(
  "size isEmpty hashCode get getLength set add addAll contains remove getFirst getLast clear".split(" "),
);
/** Print or order the members, and so read their texts. */
const READING = new Set("toString join sort sorted max min".split(" "));

/** Spends what a call of the method `name` costs; a method that isn't known to be quick costs by size. */
export function charge(self: unknown, name: string, values: readonly unknown[], context: CallContext): void {
  if (self instanceof ScriptObject && self.streamed !== undefined) {
    charge(self.streamed(), name, values, context);
  } else if (typeof self === "string") {
    for (const value of values) weigh(value, context);
    if (name === "replace") context.spend(self.length >> REPLACED_SHIFT);
    if (!QUICK_ON_TEXTS.has(name)) context.spend(textCost(self, SEEKING.has(name) ? values[0] : ""));
  } else if (Array.isArray(self) || self instanceof Set) {
    if (READING.has(name)) weigh(self, context);
    else if (!QUICK_ON_MEMBERS.has(name))
      context.spend(Math.floor((self instanceof Set ? self.size : self.length) / MEMBERS_A_STEP));
    if (name === "join") weigh(values[0], context);
  } else if (self instanceof ScriptObject) {
    // Builders print what they append.
    for (const value of values) weigh(value, context);
  } else if (isMap(self)) {
    // Keys that aren't texts are printed.
    if (typeof values[0] === "object") weigh(values[0], context);
  }
}

/** The engine compares a long text that is searched again at each offset. */
function textCost(text: string, sought: unknown): number {
  const times = typeof sought === "string" ? 1 + Math.floor(sought.length / SOUGHT_A_STEP) : 1;
  return Math.floor(text.length / CHARS_A_STEP) * times;
}
