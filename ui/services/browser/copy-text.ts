/** Copies texts, also where the page has no clipboard of its own: over plain http from another machine. */

/** Copies a text; to be called at once in the handler of a click or a key. Resolves with false if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  if (!("clipboard" in navigator) || navigator.clipboard === undefined) return copySelected(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** Copies by the command of the browser's own menu, from a field that is there for that moment. */
function copySelected(text: string): boolean {
  const before = focused();
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.ariaHidden = "true";
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  try {
    field.select();
    return document.execCommand("copy");
  } finally {
    field.remove();
    before?.focus({ preventScroll: true });
  }
}

/** Returns the element that has the focus, in whichever component. */
function focused(): HTMLElement | undefined {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found instanceof HTMLElement ? found : undefined;
}
