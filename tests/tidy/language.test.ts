import { expect, test } from 'vitest';
import { languageComplaints } from './language.ts';
import { brokenRepositoryFolder, readRepository, repositoryFolder } from './repository.ts';

const complaintsOf = (folder: string): readonly string[] =>
  languageComplaints(readRepository(folder)).map(({ path, line, message }) => `${path}:${line} ${message}`);

test('the words are those of the glossary, and comments open with their subject', () => {
  expect(complaintsOf(repositoryFolder)).toEqual([]);
});

test('a retired word, a retired file name, a header and a sentence that open with a clause, and an actor without a name are found, in documents too', () => {
  expect(complaintsOf(brokenRepositoryFolder)).toEqual([
    'docs/opens-with-a-clause.md:4 a sentence begins with "What"',
    'docs/opens-with-a-clause.md:6 a sentence begins with "Whoever"',
    'docs/opens-with-a-clause.md:6 "Whoever": name the actor or the time',
    'shared/desk.ts:1 the file is called turn-loop now',
    'shared/desk.ts:4 Desk is called TurnContext now',
    'shared/opens-with-a-clause.ts:1 the header opens with a clause: Whoever holds the lease of a turn.',
    'shared/opens-with-a-clause.ts:1 "Whoever": name the actor or the time',
    'shared/opens-with-a-clause.ts:3 a sentence begins with "What": . What it is called in the log.',
  ]);
});
