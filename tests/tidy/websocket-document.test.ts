import { expect, test } from 'vitest';
import { socketActions } from '#shared/contracts/socket-actions.ts';
import { readRepository, repositoryFolder, textOf } from './repository.ts';

const files = readRepository(repositoryFolder);

/** The names in the first cells of the table with this head. */
const namesIn = (head: string): readonly string[] =>
  (textOf(files, 'docs/spec/websocket.md').split(`\n| ${head} |`)[1]?.split('\n\n')[0] ?? '')
    .split('\n')
    .slice(2)
    .flatMap((row) => Array.from((row.split('|')[1] ?? '').matchAll(/`([\w:]+)`/g), ([, name = '']) => name))
    .toSorted();

/** The values of a type, which no program has. */
const typesIn = (path: string, name: string, one: RegExp): readonly string[] => [
  ...new Set(
    Array.from(
      (textOf(files, path).split(`type ${name} =`)[1]?.split(/;\n\n/)[0] ?? '').matchAll(one),
      ([, type = '']) => type,
    ),
  ),
];

test('every action of a client is in the document of the WebSocket', () => {
  expect(namesIn('action')).toEqual(Object.keys(socketActions).toSorted());
});

const logged = typesIn('shared/domain/event-log.ts', 'LogEntry', /type: '([\w:]+)'/g);
const unnumbered = typesIn('shared/contracts/frames.ts', 'UnnumberedType', /'([\w:]+)'/g);

test('every event of the log is in the document of the WebSocket', () => {
  expect(logged).toContain('completion');
  expect(namesIn('event of the log')).toEqual(logged.toSorted());
});

// An event of another session comes without a number, too.
test('every frame without a number is in the document of the WebSocket', () => {
  expect(unnumbered).toContain('pong');
  const named = namesIn('frame without a number');
  expect(unnumbered.filter((type) => ![...named, ...logged].includes(type))).toEqual([]);
  expect(named.filter((type) => ![...unnumbered, ...logged].includes(type))).toEqual([]);
});
