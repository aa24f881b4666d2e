/**
 * The words for a value that its schema refuses, the same over every protocol. A schema's own message is preferred.
 *
 * A text says what is expected and which kind of value came, never the value: it may be a secret.
 */
import type * as z from 'zod';

/** Given to every parse whose problems a client or a model reads. */
export const inPlainWords = { error: (issue: z.core.$ZodRawIssue): string => textOf(issue) };

/** Each problem with the path of its field; `whole` is the subject of one without a path. */
export const describeIssues = (issues: readonly z.core.$ZodIssue[], whole: string): string =>
  issues
    .flatMap(ofMeantAlternative)
    .slice(0, issuesMax)
    .map(({ path, message }) => {
      const named = path.map(String).join('.');
      if (named !== '') return `${named}: ${message}`;
      return /^(must|has|is) /.test(message) ? `${whole} ${message}` : message;
    })
    .join('; ');

/** Of a union with one alternative of the given kind, such as the only object of it, the problems of that one. */
const ofMeantAlternative = (issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union') return [issue];
  const [meant, ...others] = issue.errors.filter(([first]) => first !== undefined && first.path.length > 0);
  if (meant === undefined || others.length > 0) return [issue];
  return meant
    .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    .flatMap(ofMeantAlternative);
};

const issuesMax = 5;
const namedMax = 20;

const textOf = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return typeText(issue);
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
    case 'too_big':
      return sizeText(issue);
    case 'invalid_format':
      return formatText(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has no field ${listed(issue.keys, ' and no field ')}`;
    case 'invalid_union':
      return unionText(issue);
    case 'invalid_key':
      return 'is no allowed name';
    default:
      return notAllowed;
  }
};

const notAllowed = 'is not allowed';

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
  date: 'a time',
};

const typeText = ({ expected, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string => {
  if (input === undefined) return 'is required';
  const wanted = kinds[expected];
  if (wanted === undefined) return notAllowed;
  const given = kindOf(input);
  return given === undefined || given === wanted || expected === 'int'
    ? `must be ${wanted}`
    : `must be ${wanted}, not ${given}`;
};

/** Undefined for a value without a name: not a number, an instance of a class. */
const kindOf = (input: unknown): string | undefined => {
  if (input === null) return 'null';
  if (Array.isArray(input)) return kinds['array'];
  return Number.isNaN(input) ? undefined : kinds[typeof input];
};

const oneOf = (values: readonly z.core.util.Primitive[]): string => {
  const shown = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  return shown.length === 1 ? `must be ${shown[0]}` : `must be one of ${shown.slice(0, namedMax).join(', ')}`;
};

const listed = (names: readonly string[], between: string): string =>
  names
    .slice(0, issuesMax)
    .map((name) => `"${name.slice(0, 100)}"`)
    .join(between);

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
  object: ['field', 'fields'],
  record: ['field', 'fields'],
};

const sizeText = (
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall> | z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>,
): string => {
  const isLow = issue.code === 'too_small';
  const bound = isLow ? issue.minimum : issue.maximum;
  const unit = units[issue.origin];
  const [inclusive, exclusive] = isLow ? ['at least', 'more than'] : ['at most', 'less than'];
  if (unit === undefined) return `must be ${issue.inclusive === false ? exclusive : inclusive} ${bound}`;
  const isOne = Number(bound) === 1;
  if (isLow && isOne && issue.exact !== true) return 'must not be empty';
  return `must have ${issue.exact === true ? 'exactly' : inclusive} ${bound} ${unit[isOne ? 0 : 1]}`;
};

const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  guid: 'a UUID',
  url: 'a URL',
  email: 'an email address',
  datetime: 'a time in ISO 8601',
  date: 'a date in ISO 8601',
  base64: 'a text in base64',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

const formatText = (issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string => {
  const { format, pattern } = issue;
  if (format === 'regex' && pattern !== undefined) return `must match ${pattern}`;
  const part = issue['prefix'] ?? issue['suffix'] ?? issue['includes'];
  if (typeof part === 'string') return `must ${partVerbs[format] ?? 'contain'} "${part}"`;
  return formats[format] === undefined ? 'has a form that is not allowed' : `must be ${formats[format]}`;
};

const partVerbs: Readonly<Record<string, string>> = { starts_with: 'begin with', ends_with: 'end with' };

/** By its discriminator, or the alternatives that refuse the value as a whole. */
const unionText = (issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string => {
  if ('options' in issue && Array.isArray(issue.options) && issue.options.length > 0)
    return oneOf(issue.options);
  const first = issue.errors.map(([only]) => only);
  const texts = first.flatMap((only) =>
    only?.path.length === 0 && only.message.startsWith('must be ')
      ? [only.message.slice('must be '.length).replace(/, not .*$/, '')]
      : [],
  );
  const wanted = [...new Set(texts)];
  return wanted.length === 0 ? notAllowed : `must be ${wanted.join(' or ')}`;
};
