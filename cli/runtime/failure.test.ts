/** Advice of the program on a failure: of the connection, and of a thing that was named and is not there. */
import { expect, test } from 'vitest';
import { unreachable } from '#sdk/errors.ts';
import { refusal } from '../fixtures/fake-deployment.ts';
import { type CliFailure, describeFailure, type ErrorBody, toFailure } from './failure.ts';

const url = 'http://127.0.0.1:4350';
const bodyOf = ({ body }: CliFailure): ErrorBody => body;

test('a server that nothing reaches is to be started', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const body = bodyOf(toFailure(unreachable(url, refused)));
  const [message, ...advice] = describeFailure(body);
  expect(message).toBe(`sallyport: ${url} cannot be reached: nothing listens there (unreachable)`);
  expect(advice).toEqual([expect.stringContaining('Start it with `npm start`')]);
  expect(body.error.suggestions).toEqual([expect.stringContaining('Start it with `npm start`')]);
});

test('a server that was silent runs: the advice is to look what it did', () => {
  const late = new DOMException('no answer in time', 'TimeoutError');
  expect(describeFailure(bodyOf(toFailure(unreachable(url, late))))).toEqual([
    `sallyport: ${url} did not answer in time (unreachable)`,
    '  Check the URL. Check whether it was done. If not, send it again.',
  ]);
});

test.each([
  ['schedule_not_found', 'sallyport schedules'],
  ['project_not_found', 'sallyport projects'],
])('%s says that a name is no id, and which command lists both', (code, command) => {
  const body = refusal(code, 'there is no such thing', ['List the things.']) as ErrorBody;
  expect(describeFailure(body)).toEqual([
    `sallyport: there is no such thing (${code})`,
    expect.stringContaining(`is named by its id: \`${command}\` lists the ids and their names.`),
  ]);
});
