/**
 * Styles of xterm.js under a policy that forbids inline style: while a terminal is shown, a style element becomes a style sheet
 * of the page, and a style attribute of a span is set through its properties, both of which the policy allows.
 *
 * xterm.js makes its elements with the page's document, whatever document it is given.
 */

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
