import { expect, test } from 'vitest';
import { bytesMaxOf, languageOf, shapeOf, withLineEnd } from './file-kind.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['a.py', 'python'],
  ['src/deep/app.TSX', 'typescript'],
  ['Dockerfile', 'dockerfile'],
  ['noted.txt', ''],
  ['.gitignore', ''],
  ['folder.py/plain', ''],
])('%s is highlighted as "%s"', (name, language) => {
  expect(languageOf(name)).toBe(language);
});

test('text is UTF-8 without a NUL; its line ends are detected', () => {
  expect(shapeOf('a.txt', bytes('grüße\n'))).toEqual({ kind: 'text', text: 'grüße\n', lineEnd: '\n' });
  expect(shapeOf('a.txt', bytes('a\r\nb\r\n'))).toMatchObject({ lineEnd: '\r\n' });
  expect(shapeOf('a.txt', bytes('a\r\nb\n'))).toMatchObject({ lineEnd: 'mixed' });
  expect(shapeOf('a.txt', bytes('\na\r\n'))).toMatchObject({ lineEnd: 'mixed' });
  expect(shapeOf('a.txt', bytes('50 %\r100 %\n'))).toMatchObject({ lineEnd: 'mixed' });
  expect(shapeOf('a.txt', bytes('a\0b'))).toEqual({ kind: 'binary' });
  expect(shapeOf('a.txt', new Uint8Array([0xc3, 0x28]))).toEqual({ kind: 'binary' });
  expect(shapeOf('a.txt', bytes('\uFEFFa'))).toMatchObject({ text: '\uFEFFa' });
});

test('pictures are shown as such, an SVG as its source', () => {
  expect(shapeOf('a.PNG', new Uint8Array([0]))).toEqual({ kind: 'picture', mimeType: 'image/png' });
  expect(shapeOf('a.svg', bytes('<svg/>'))).toMatchObject({ kind: 'text' });
  expect(bytesMaxOf('a.png')).toBe(8_388_608);
  expect(bytesMaxOf('a.svg')).toBe(1_048_576);
});

test('a file keeps its line ends', () => {
  expect(withLineEnd('a\nb', '\r\n')).toBe('a\r\nb');
  expect(withLineEnd('a\nb', '\n')).toBe('a\nb');
});
