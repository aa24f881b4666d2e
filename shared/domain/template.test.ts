import { expect, test } from 'vitest';
import { decodeTemplates, languageOf, namedTemplatesMax } from './template.ts';

const science = { name: 'science', image: 'example.org/team/science:7' };
const decode = (value: unknown) => decodeTemplates(JSON.stringify(value));

test('a template is named with an image or a Dockerfile', () => {
  const templates = [
    science,
    { name: 'web-tests', dockerfile: './templates/web/Dockerfile', description: 'Browsers' },
  ];
  expect(decode(templates)).toEqual({ ok: true, templates });
});

test.each<[string, unknown]>([
  ['no list', science],
  ['an empty list', []],
  [
    'too many',
    Array.from({ length: namedTemplatesMax + 1 }, (_, index) => ({ ...science, name: `t${index}` })),
  ],
  ['no template', ['science']],
  ['null', [null]],
  ['neither image nor Dockerfile', [{ name: 'science' }]],
  ['both', [{ ...science, dockerfile: 'Dockerfile' }]],
  ['an unknown field', [{ ...science, language: 'r' }]],
  ['a name of the platform', [{ ...science, name: 'python' }]],
  ['a name twice', [science, science]],
  ['a name with capitals', [{ ...science, name: 'Science' }]],
  ['a name that is too long', [{ ...science, name: 's'.repeat(33) }]],
  ['an image that an engine would read as an option', [{ ...science, image: '--privileged' }]],
  ['an image with a space', [{ ...science, image: 'a b' }]],
  ['an empty image', [{ ...science, image: '' }]],
  ['a description that is no text', [{ ...science, description: 7 }]],
])('%s is refused', (_, value) => {
  expect(decode(value).ok).toBe(false);
});

test('text that is no JSON, or too long, is refused', () => {
  expect(decodeTemplates('science').ok).toBe(false);
  expect(decodeTemplates(JSON.stringify([science]).padEnd(1501)).ok).toBe(false);
});

test('code without a language runs in that of the template, in Python where it has both', () => {
  expect(['python', 'node', 'science'].map(languageOf)).toEqual(['python', 'node', 'python']);
});
