/** Texts of a form's inputs, and its end. */

/** Returns an input's text, trimmed; "" if there is no such input. */
export function formText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Empties a form whose inputs were sent; one that was filled in otherwise meanwhile stays as it is. */
export function resetSent(form: HTMLFormElement, sent: FormData): void {
  if (JSON.stringify([...new FormData(form)]) === JSON.stringify([...sent])) form.reset();
}
