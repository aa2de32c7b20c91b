/** Values with templates in their texts. */

import { isHash } from "#proto/event.ts";

/** Returns a value for one event or document. */
export type Part<C> = (context: C) => unknown;

/** What compiles the texts of a value. */
export interface TextCompilers<C> {
  /** Of a text that is a value. */
  readonly value: (text: string) => Part<C>;
  /** Of a member's name. */
  readonly name: (text: string) => (context: C) => string;
}

/** Compiles a value of JSON: the texts in it, in lists and in objects, names of members too; all else stays as it is. */
export function compileValueTemplate<C>(value: unknown, texts: TextCompilers<C>): Part<C> {
  if (typeof value === "string") return texts.value(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => compileValueTemplate(item, texts));
    return (context) => items.map((item) => item(context));
  }
  if (!isHash(value)) return () => value;
  const members = Object.entries(value).map(
    ([name, member]) => [texts.name(name), compileValueTemplate(member, texts)] as const,
  );
  return (context) => Object.fromEntries(members.map(([name, member]) => [name(context), member(context)]));
}
