/**
 * Rules for a source file, as far as a pattern can tell; Biome and the compiler check the rest.
 *
 * Each rule is tried on a file that breaks it (fixtures/broken-repository), so a pattern that has stopped
 * matching is noticed. A letter in brackets keeps a pattern from matching this file.
 */
import { isSource, isTest, type RepositoryFile } from './repository.ts';

export type SourceRule = {
  readonly name: string;
  readonly isBrokenBy: (file: RepositoryFile) => boolean;
};

const linesMax = 400;
const bannedName = /(?:^|[/-])(?:utils?|helpers?|common|lib|types)(?:[./]|$)|-(?:manager|service|impl)[./]/;
const unfinishedWork = /\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/;
const decisionRecord = /\badr\/\d{4}-/;
const programEntry =
  /^(?:functions\/[^/]+\/handler\.ts|infra\/stacks\/app\.ts|(?:.+\/)?main\.ts|cli\/sallyport\.js)$/;
/** They start other programs, whose environment is that of the shell: the linter asks each read for its reason. */
const startsPrograms = /^operations\//;
const ranForEachFile = /(?:\.test|\/each-test)\.ts$/;
const atImport = /^(?:before|after)(?:Each|All)\(/m;
const machinePath = /(?<![\w.*~$}-])\/(?:home|Users|work|Volumes)\/\w|\b[A-Z]:\\\w/;
/** The clients of the library: they write no path of the API, nor of its other endpoints. */
const libraryClient = /^(?:cli|web|functions\/synthetic)\/.*\.(?:ts|vue)$/;
const wirePath = /[`'"]\/(?:api|mcp|ws)(?=[/`'"?])/;
/** A busy machine breaks it: speed belongs to `npm run bench`, to a meter of CPU time, or to a ceiling of the runner. */
const wallTimeLimit = /expect\([^;]*\.now\(\) - [^;]*\)\s*\.toBeLessThan/;
const packageHost =
  /:\/\/[\w.-]*(?:registry|npmjs|artifactory|verdaccio|pypi|nexus)[\w.-]*[/:]|\b_authToken\b|^registry\s*=/m;

/** A line that only comments is about a word, it does not use it. */
const codeOf = (text: string): string => text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
const countOf = (text: string, word: string): number => text.split(word).length - 1;

export const sourceRules: readonly SourceRule[] = [
  {
    name: 'a source file opens with a header that says what it is',
    isBrokenBy: (file) => isSource(file) && !isTest(file) && !/^(?:#!.*\n)?\/\*\*/.test(file.text),
  },
  {
    name: 'a source file is no longer than 400 lines',
    isBrokenBy: (file) => isSource(file) && !isTest(file) && file.text.split('\n').length > linesMax + 1,
  },
  {
    name: 'a file or folder is named by what it is about, not by the kind of drawer it is',
    isBrokenBy: ({ path }) => bannedName.test(path),
  },
  {
    name: 'unfinished work is marked only with the decision record that allows it',
    isBrokenBy: (file) =>
      isSource(file) &&
      file.text.split('\n').some((line) => unfinishedWork.test(line) && !decisionRecord.test(line)),
  },
  {
    name: 'the environment is read once, in the entry of a program',
    isBrokenBy: (file) => {
      if (!isSource(file) || isTest(file) || startsPrograms.test(file.path)) return false;
      const reads = countOf(codeOf(file.text), 'process.env');
      return reads > (programEntry.test(file.path) ? 1 : 0);
    },
  },
  {
    name: 'a module registers no hook when it is imported, since the test files of a worker share it',
    isBrokenBy: (file) => isSource(file) && !ranForEachFile.test(file.path) && atImport.test(file.text),
  },
  {
    name: 'requests of the web app, the command line and the synthetic check are written in sdk',
    isBrokenBy: (file) =>
      libraryClient.test(file.path) &&
      !isTest(file) &&
      !file.path.startsWith('cli/fixtures/') &&
      wirePath.test(codeOf(file.text)),
  },
  {
    name: 'no test limits how long something took by the clock',
    isBrokenBy: (file) => isTest(file) && wallTimeLimit.test(file.text),
  },
  {
    name: 'nothing names a place on one machine',
    isBrokenBy: ({ text }) => machinePath.test(text),
  },
  {
    name: 'nothing names where packages come from',
    isBrokenBy: ({ text }) => packageHost.test(text),
  },
];
