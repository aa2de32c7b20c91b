/** Texts of rows that show one line after the other, many times a second. */

/** Makes a text an element's only content. A text node that is there is kept: to make another one costs a layout box. */
export function patchText(element: HTMLElement, text: string): void {
  const node = element.firstChild;
  if (!(node instanceof Text) || node !== element.lastChild) element.textContent = text;
  else if (node.data !== text) node.data = text;
}
