/** Advice of the program on a failure: of the connection, and of a thing that was named and is not there. */
import { expect, test } from 'vitest';
import { unreachable } from '#sdk/errors.ts';
import { refusal } from '../fixtures/fake-deployment.ts';
import { advised } from './deployment.ts';
import { describeFailure, type ErrorBody, toFailure } from './failure.ts';

const local = 'http://127.0.0.1:4350';
const deployed = 'https://sally.example';
const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
const late = new DOMException('no answer in time', 'TimeoutError');

test.each([
  { url: local, cause: refused, advice: 'Start it with `npm start`' },
  { url: deployed, cause: refused, advice: 'Check your connection and the URL: `sallyport login' },
  { url: local, cause: late, advice: 'Check the URL. Check whether it was done' },
])('$url, $cause.message: $advice', ({ url, cause, advice }) => {
  const { body } = toFailure(advised(unreachable(url, cause), { url, source: 'file' }));
  const [message, ...lines] = describeFailure(body);
  expect(message).toMatch(new RegExp(`^sallyport: ${url} .*\\(unreachable\\)$`));
  expect(lines).toEqual([expect.stringContaining(advice)]);
  expect(body.error.suggestions).toEqual([expect.stringContaining(advice)]);
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
