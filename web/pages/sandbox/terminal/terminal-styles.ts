/**
 * Colours and styles of xterm.js, the latter under a policy that forbids inline style: while a terminal is shown, a style element becomes a style sheet
 * of the page, and a style attribute of a span is set through its properties, both of which the policy allows.
 *
 * xterm.js makes its elements with the page's document, whatever document it is given.
 */
import type { ITheme } from '@xterm/xterm';

let screens = 0;

/** The result puts everything back with the last screen. */
export const allowStyles = (): (() => void) => {
  screens += 1;
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  return () => {
    screens -= 1;
    if (screens === 0) Reflect.deleteProperty(document, 'createElement');
  };
};

const createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
  if (name === 'style') return styleHolder();
  const element = plainElement(name, options);
  // Colours that are no part of the palette.
  if (name === 'span')
    element.setAttribute = (attribute: string, value: string): void => {
      if (attribute === 'style') element.style.cssText = value;
      else Element.prototype.setAttribute.call(element, attribute, value);
    };
  return element;
};

const plainElement = (name: string, options?: ElementCreationOptions): HTMLElement =>
  Document.prototype.createElement.call(document, name, options);

/** Stands where the element would; its text is the style sheet's. */
const styleHolder = (): HTMLElement => {
  const holder = plainElement('span');
  holder.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(holder, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  holder.remove = (): void => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(holder);
  };
  return holder;
};

/** Dark in both themes of the app: each colour has a contrast of 4.5 to 1 on the ground. */
export const terminalTheme: ITheme = {
  background: '#11191a',
  foreground: '#d9e2de',
  cursor: '#e8b04b',
  cursorAccent: '#11191a',
  selectionBackground: '#2f5f58',
  scrollbarSliderBackground: '#4a5a56',
  scrollbarSliderHoverBackground: '#5f726d',
  scrollbarSliderActiveBackground: '#5f726d',
  black: '#93a19c',
  brightBlack: '#93a19c',
  red: '#ff8f86',
  brightRed: '#ff8f86',
  green: '#7ed69b',
  brightGreen: '#7ed69b',
  yellow: '#ecc06a',
  brightYellow: '#ecc06a',
  blue: '#8fbff0',
  brightBlue: '#8fbff0',
  magenta: '#dba3de',
  brightMagenta: '#dba3de',
  cyan: '#78d3d0',
  brightCyan: '#78d3d0',
  white: '#f1f5f3',
  brightWhite: '#ffffff',
};
