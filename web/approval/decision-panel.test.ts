import { expect, test } from 'vitest';
import { summarizeCall } from './call-summary.ts';
import { editableText, editedArgs } from './decision-panel.vue';

const editable = (name: string, args: Parameters<typeof summarizeCall>[1]) =>
  editableText(summarizeCall(name, args).form, args);

test('a command is edited as a command, and keeps its other arguments', () => {
  const args = { command: 'rm -rf build', timeout: 9 };
  const text = editable('execute_command', args);
  expect(text).toEqual({ field: 'command', text: 'rm -rf build', label: 'The command' });
  expect(editedArgs(args, text, 'rm -r build')).toEqual({ args: { command: 'rm -r build', timeout: 9 } });
  expect(editedArgs(args, text, 'rm -rf build')).toEqual({ problem: 'Nothing is changed yet.' });
  expect(editedArgs(args, text, ' ')).toEqual({ problem: 'The command is empty.' });
});

test('any other call is edited as the JSON of its arguments, which must stay an object', () => {
  const text = editable('other', { a: 1 });
  expect(text).toEqual({ text: '{\n  "a": 1\n}', label: 'The arguments, as JSON' });
  expect(editedArgs({ a: 1 }, text, '{"a":2}')).toEqual({ args: { a: 2 } });
  expect(editedArgs({ a: 1 }, text, '[2]')).toEqual({ problem: 'The arguments must be a JSON object.' });
  expect(editedArgs({ a: 1 }, text, '{').problem).toMatch(/^This is not JSON: /);
});

test('a text that a text field would change is edited as JSON', () => {
  expect(editable('execute_command', { command: 'a\r\nb' }).field).toBeUndefined();
});
