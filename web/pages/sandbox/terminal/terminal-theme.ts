/** Colours of the terminal, dark in both themes of the app: each has a contrast of 4.5 to 1 on the ground. */
import type { ITheme } from '@xterm/xterm';

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
