/** Icons: strokes on a grid of 24, in the colour of the text beside them. They are hidden from screen readers. */

import { html, svg, type TemplateResult } from "lit";

const PATHS = {
  arrowDown: svg`<path d="M12 4v15.5M5.5 13l6.5 6.5 6.5-6.5"/>`,
  arrowUp: svg`<path d="M12 20V4.5M5.5 11 12 4.5l6.5 6.5"/>`,
  arrowLeft: svg`<path d="M20 12H4.5M11 5.5 4.5 12l6.5 6.5"/>`,
  undo: svg`<path d="M9 5 4 10l5 5M4.5 10H14a5.5 5.5 0 0 1 0 11h-3"/>`,
  redo: svg`<path d="m15 5 5 5-5 5M19.5 10H10a5.5 5.5 0 0 0 0 11h3"/>`,
  arrowRight: svg`<path d="M4 12h15.5M13 5.5l6.5 6.5-6.5 6.5"/>`,
  braces: svg`<path d="M9 4H7.5a2 2 0 0 0-2 2v3.5L3.5 12l2 2.5V18a2 2 0 0 0 2 2H9M15 4h1.5a2 2 0 0 1 2 2v3.5l2 2.5-2 2.5V18a2 2 0 0 1-2 2H15"/>`,
  calendar: svg`<rect x="3.5" y="5" width="17" height="15.5" rx="2"/><path d="M3.5 10h17M8 2.5V6M16 2.5V6"/>`,
  check: svg`<path d="m5 12.5 4.5 4.5L19 7.5"/>`,
  chevronDown: svg`<path d="m6 9 6 6 6-6"/>`,
  chevronLeft: svg`<path d="m15 6-6 6 6 6"/>`,
  chevronRight: svg`<path d="m9 6 6 6-6 6"/>`,
  close: svg`<path d="M6 6l12 12M18 6 6 18"/>`,
  columns: svg`<rect x="3.5" y="4" width="17" height="16" rx="2"/><path d="M9.5 4v16M15 4v16"/>`,
  chart: svg`<path d="M4 4v16h16M8 15l3.5-4 3 2.5L20 7"/>`,
  clock: svg`<circle cx="12" cy="12" r="8.5"/><path d="M12 7v5l3.5 2"/>`,
  copy: svg`<rect x="8.5" y="8.5" width="12" height="12" rx="2"/><path d="M15.5 8.5v-3a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h3"/>`,
  download: svg`<path d="M12 4v11M7 10.5l5 5 5-5M4.5 20h15"/>`,
  edit: svg`<path d="m4 20 .8-4L16.5 4.3a1.8 1.8 0 0 1 2.6 0l.6.6a1.8 1.8 0 0 1 0 2.6L8 19.2 4 20Z"/>`,
  eye: svg`<path d="M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7S2 12 2 12Z"/><circle cx="12" cy="12" r="3"/>`,
  end: svg`<path d="M12 4v12M6.5 11 12 16.5 17.5 11M5 20.5h14"/>`,
  help: svg`<circle cx="12" cy="12" r="9"/><path d="M9.2 9.2a2.8 2.8 0 1 1 4.2 2.5c-.9.5-1.4 1-1.4 2M12 17h.01"/>`,
  higher: svg`<path d="M5 4h14M5 20h14M12 8v8M9 10.5 12 7.5l3 3M9 13.5l3 3 3-3"/>`,
  highlighter: svg`<path d="m9 11.500 7-7a2 2 0 0 1 2.800 0l.7.700a2 2 0 0 1 0 2.800l-7 7M9 11.500l3.500 3.500M9 11.500l-2 4 1.500 1.500 4-2M4 20.500h9"/>`,
  list: svg`<path d="M8.5 6H21M8.5 12H21M8.5 18H21M3.5 6h.01M3.5 12h.01M3.5 18h.01"/>`,
  lower: svg`<path d="M5 12h14M12 2.5v6M9 6l3 3 3-3M12 21.5v-6M9 18l3-3 3 3"/>`,
  menu: svg`<path d="M4 7h16M4 12h16M4 17h16"/>`,
  minus: svg`<circle cx="12" cy="12" r="8.5"/><path d="M8.5 12h7"/>`,
  contrast: svg`<circle cx="12" cy="12" r="8.5"/><path d="M12 3.5v17A8.5 8.5 0 0 0 12 3.5Z" fill="currentColor"/>`,
  bell: svg`<path d="M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 2h-15l1.5-2ZM10 21h4"/>`,
  bellOff: svg`<path d="M6 16.5V11c0-1 .2-1.9.6-2.7M9.5 5.5A6 6 0 0 1 18 11v5.5M4.5 18.5h14M10 21h4M3.5 3.5l17 17"/>`,
  expand: svg`<path d="M4 9.5V4h5.5M20 9.5V4h-5.5M4 14.5V20h5.5M20 14.5V20h-5.5"/>`,
  find: svg`<path d="M4 6h9M4 11h5M4 16h4"/><circle cx="14.5" cy="14" r="4.5"/><path d="m18 17.500 3 3"/>`,
  filter: svg`<path d="M3.5 5h17l-6.5 8v6l-4-2v-4L3.5 5Z"/>`,
  link: svg`<path d="M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1"/>`,
  nextError: svg`<path d="M12 3v7M12 13.500h.01M5.5 16l6.500 5 6.500-5"/>`,
  previousError: svg`<path d="M5.5 8 12 3l6.500 5M12 10.500v7M12 21h.01"/>`,
  image: svg`<rect x="3.5" y="4.5" width="17" height="15" rx="2"/><path d="m4 16.500 5-5 4.500 4.500 2-2 5 4M15.500 9h.01"/>`,
  print: svg`<path d="M7 8.5V3.5h10v5M7 17H4.5a1 1 0 0 1-1-1v-6.5a1 1 0 0 1 1-1h15a1 1 0 0 1 1 1V16a1 1 0 0 1-1 1H17M7 14h10v6.5H7V14Z"/>`,
  user: svg`<circle cx="12" cy="8.5" r="4"/><path d="M4.5 20.5c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5"/>`,
  wrap: svg`<path d="M4 6h16M4 12h12.5a3.2 3.2 0 0 1 0 6.5H11M13.5 16 11 18.500l2.500 2.500M4 18h3"/>`,
  moon: svg`<path d="M20.5 14.5A8.7 8.7 0 0 1 9.5 3.5a8.7 8.7 0 1 0 11 11Z"/>`,
  narrower: svg`<path d="M12 5v14M2.5 12h6M6 9l3 3-3 3M21.5 12h-6M18 9l-3 3 3 3"/>`,
  pause: svg`<path d="M8 5v14M16 5v14"/>`,
  play: svg`<path d="M7 4.5v15l12-7.5-12-7.5Z"/>`,
  plus: svg`<circle cx="12" cy="12" r="8.5"/><path d="M12 8.5v7M8.5 12h7"/>`,
  refresh: svg`<path d="M20 11a8 8 0 1 0-.6 4M20 4.5V11h-6.5"/>`,
  save: svg`<path d="M5 4h11l4 4v11a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1ZM8 4v5h7V4M8 20v-6h8v6"/>`,
  search: svg`<circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5"/>`,
  sun: svg`<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4"/>`,
  system: svg`<rect x="3" y="4.5" width="18" height="12" rx="2"/><path d="M8.5 20.5h7M12 16.5v4"/>`,
  target: svg`<circle cx="12" cy="12" r="8.5"/><circle cx="12" cy="12" r="2.5"/><path d="M12 1.5v4M12 18.5v4M1.5 12h4M18.5 12h4"/>`,
  terminal: svg`<rect x="3" y="4.5" width="18" height="15" rx="2"/><path d="m7 9.5 3 2.5-3 2.5M12.5 15H17"/>`,
  trash: svg`<path d="M4 6.5h16M9.5 6.5V4h5v2.5M6.5 6.5l1 14h9l1-14"/>`,
  wider: svg`<path d="M4 5v14M20 5v14M8 12h8M10.5 9l-3 3 3 3M13.5 9l3 3-3 3"/>`,
  zoomOut: svg`<circle cx="10.500" cy="10.500" r="6.500"/><path d="m15.5 15.5 5 5M7.500 10.500h6"/>`,
  upload: svg`<path d="M12 16V4.5M7 9l5-5 5 5M4.5 20h15"/>`,
} as const;

export type IconName = keyof typeof PATHS;

/** Returns an icon. */
export function icon(name: IconName): TemplateResult {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true">${PATHS[name]}</svg>`;
}

/** Returns the mark of the product: water that leaves a wheel. */
export function logo(): TemplateResult {
  return html`<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M3 7.2c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" />
    <path d="M3 12.6c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" opacity=".72" />
    <path d="M3 18c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" opacity=".45" />
  </svg>`;
}
