import { expect, test } from 'vitest';
import { AppError } from '../../errors.ts';
import { knownTemplate, templateNames } from './known-template.ts';

const named = [{ name: 'science', image: 'example.org/science:7' }];
const refusal = (work: () => unknown): AppError => {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it was not refused');
};

test('the platform’s own are always known, and the operator’s by the settings', () => {
  expect(templateNames()).toEqual(['python', 'node']);
  expect(templateNames({ named })).toEqual(['python', 'node', 'science']);
  expect(knownTemplate('science', { named })).toBe('science');
});

test.each(['ruby', 'Python', '', '__proto__'])('%j is refused with the list of the known ones', (name) => {
  const { code, message } = refusal(() => knownTemplate(name, { named }));
  expect({ code, message }).toEqual({
    code: 'unsupported_language',
    message: 'template: use one of python, node, science',
  });
});

test('one that cannot be built is refused with the reason, and no other', () => {
  const known = { named, problem: 'no engine answers' };
  expect(refusal(() => knownTemplate('science', known)).message).toBe(
    'template: science cannot be used: no engine answers',
  );
  expect(knownTemplate('node', known)).toBe('node');
});
