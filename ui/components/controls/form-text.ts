/** Texts of a form's inputs. */

/** Returns an input's text, trimmed; "" where there is no such input. */
export function formText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}
