/** Reads the texts of a form's inputs, and empties a sent form. */

/** Returns an input's text, trimmed; "" if there is no such input. */
export function formText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Empties a form whose inputs were sent; a form that was changed meanwhile stays as it is. */
export function resetSent(form: HTMLFormElement, sent: FormData): void {
  if (JSON.stringify([...new FormData(form)]) === JSON.stringify([...sent])) form.reset();
}
