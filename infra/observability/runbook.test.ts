import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorRules } from '#shared/errors.ts';
import { shapes } from '../constructs/platform-function.ts';
import { inRepository } from '../constructs/repository-path.ts';
import { widgetsOf } from '../stacks/shown-metrics.ts';
import { ofType, synthesise } from '../stacks/synthesise.ts';
import { servingMoments } from './monitored.ts';
import { queries } from './queries.ts';

const runbook = readFileSync(inRepository('docs/runbook.md'), 'utf8');
const [, codes = '', alarms = ''] = runbook.split(/^## (?:Error codes|Alarms)$/m);
const { observability } = synthesise();

type Section = { readonly title: string; readonly anchor: string; readonly text: string };

/** As GitHub names a heading's anchor. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-');

const sectionsOf = (chapter: string): readonly Section[] =>
  chapter
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return { title, anchor: anchorOf(title), text: lines.join('\n') };
    });

const anchorsOf = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) =>
    [...text.matchAll(/docs\/runbook\.md#([a-z0-9_-]+)/g)].map(([, anchor = '']) => anchor),
  );

const descriptions = ofType(observability, 'AWS::CloudWatch::Alarm').map(
  ({ Properties }) => Properties.AlarmDescription as string,
);
const markdown = widgetsOf(observability).flatMap(({ properties }) => properties.markdown ?? []);

test('every error code has its section, and every section its code', () => {
  expect(sectionsOf(codes).map(({ title }) => title)).toHaveLength(Object.keys(errorRules).length);
  expect(
    sectionsOf(codes)
      .map(({ title }) => title)
      .sort(),
  ).toEqual(
    Object.keys(errorRules)
      .map((code) => `\`${code}\``)
      .sort(),
  );
});

test('every section of a code says its status and whether a retry helps', () => {
  for (const { title, text } of sectionsOf(codes)) {
    const { status, retry } = errorRules[title.replaceAll('`', '') as keyof typeof errorRules];
    const helps = retry === 'later' ? 'a retry can help later' : 'a retry does not help';
    expect([title, text.trim().startsWith(`Status ${status}; ${helps}. `)]).toEqual([title, true]);
  }
});

test('every alarm links to a section, and every section is linked', () => {
  const sections = sectionsOf(alarms).map(({ anchor }) => anchor);
  expect(new Set(sections).size).toBe(sections.length);
  expect(descriptions.map((text) => anchorsOf([text]).length)).toEqual(descriptions.map(() => 1));
  const chapters = ['alarms', 'error-codes'];
  const linked = anchorsOf([...descriptions, ...markdown]).filter((anchor) => !chapters.includes(anchor));
  expect([...new Set(linked)].sort()).toEqual([...sections].sort());
});

test('the links follow a configured runbook URL', () => {
  const runbookUrl = 'https://wiki.example.com/sallyport/runbook';
  const moved = synthesise({ settings: { runbookUrl } }).observability;
  const texts = [
    ...ofType(moved, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmDescription as string),
    ...widgetsOf(moved).flatMap(({ properties }) => properties.markdown ?? []),
  ];
  expect(texts.filter((text) => text.includes('docs/runbook.md'))).toEqual([]);
  expect(texts.filter((text) => text.includes(`${runbookUrl}#`))).toHaveLength(
    descriptions.length + markdown.length,
  );
});

describe('a section', () => {
  test.each([...sectionsOf(codes), ...sectionsOf(alarms)])('$anchor has a query and a remedy', ({ text }) => {
    expect(text).toMatch(
      /\n\*\*See\*\*\n\n```(?:bash)?\n(?:filter |fields |aws |api )[\s\S]+\n```\n\n\*\*Do\*\* \S/,
    );
  });
});

test('the query of event dead letters finds every function whose invocations end there', () => {
  const names = Object.entries(shapes).flatMap(([name, { deadLetters }]) =>
    deadLetters === 'events' ? [name] : [],
  );
  const { text = '' } = sectionsOf(alarms).find(({ anchor }) => anchor === 'event-dead-letters') ?? {};
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});

test('the query of dropped invocations finds every function of that alarm', () => {
  const { text = '' } = sectionsOf(alarms).find(({ anchor }) => anchor === 'dropped-invocations') ?? {};
  expect([...servingMoments].filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});

/** As Lambda writes them with JSON logs (https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html). */
const reportOf = (record: object): string =>
  JSON.stringify({
    time: '2026-11-27T12:00:00.000Z',
    type: 'platform.report',
    record: { requestId: 'one', ...record },
  });

test.each([
  ['ran out of time', { status: 'timeout' }],
  ['ran out of memory', { status: 'error', errorType: 'Runtime.OutOfMemory' }],
  ['exited', { status: 'error', errorType: 'Runtime.ExitError' }],
  ['could not be run', { status: 'failure' }],
])('the query of function errors finds a function that %s', (_, record: { readonly status: string }) => {
  const { text = '' } = sectionsOf(alarms).find(({ anchor }) => anchor === 'function-errors') ?? {};
  const [, statuses = ''] = /record\.status in \[([^\]]+)\]/.exec(text) ?? [];
  const [, pattern = '^$'] = /@message like \/([^/]+)\//.exec(text) ?? [];
  const isFound = statuses.includes(`"${record.status}"`) || new RegExp(pattern).test(reportOf(record));
  expect(isFound).toBe(true);
});

describe('the queries of the runbook and the saved ones', () => {
  const texts = [...runbook.matchAll(/^(?:fields|filter) .+$/gm)].map(([text]) => text);
  const all = [...texts, ...queries.map(({ lines }) => lines.join(' '))];
  const quoted = (field: string): readonly string[] =>
    all.flatMap((text) =>
      [...text.matchAll(new RegExp(`\\b${field} (?:= |in \\[)((?:"[^"]+"(?:, )?)+)`, 'g'))].flatMap(
        ([, list = '']) => [...list.matchAll(/"([^"]+)"/g)].map(([, value = '']) => value),
      ),
    );
  const programs = ['shared', 'functions'].flatMap((folder) =>
    readdirSync(inRepository(folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => readFileSync(inRepository(`${folder}/${path}`), 'utf8')),
  );
  const isSaid = (text: string): boolean => programs.some((program) => program.includes(`'${text}'`));

  test('use events that are emitted', () => {
    expect(quoted('event').length).toBeGreaterThan(20);
    expect([...new Set(quoted('event'))].filter((event) => !isSaid(event))).toEqual([]);
  });

  test('use messages that are logged, word by word', () => {
    expect(quoted('message').length).toBeGreaterThan(5);
    expect([...new Set(quoted('message'))].filter((message) => !isSaid(message))).toEqual([]);
  });

  /** As a person reads them in the field `reason`; those of ECS begin with the name of an error. */
  const explained = (anchor: string): readonly string[] => {
    const [, remedies = ''] = (
      sectionsOf(alarms).find((section) => section.anchor === anchor)?.text ?? ''
    ).split('**Do**');
    return [...remedies.matchAll(/`([a-z]+(?: [a-z]+)+)`/g)].map(([, reason = '']) => reason);
  };

  test('explain reasons that are recorded, word by word', () => {
    const reasons = [...explained('sandbox-starts-failed'), ...explained('sandboxes-lost')];
    expect(reasons).toContain('the start was refused');
    expect(reasons.filter((reason) => !isSaid(reason))).toEqual([]);
  });

  test('explain every reason of ours for which a start fails', () => {
    const recorded = programs
      .filter((program) => /recordStartFailure\((?:ports|telemetry)/.test(program))
      .flatMap((program) => [...program.matchAll(/(?:const reason = |giveUp\(ports, named, )'([^']+)'/g)])
      .map(([, reason = '']) => reason);
    expect(recorded.length).toBeGreaterThan(3);
    expect(recorded.filter((reason) => !explained('sandbox-starts-failed').includes(reason))).toEqual([]);
  });

  test('use existing codes', () => {
    expect(quoted('code').filter((code) => !Object.hasOwn(errorRules, code))).toEqual([]);
  });
});
