/**
 * Settings of a stage in a file outside the repository, so that an upgrade of the source meets no edits of an operator.
 *
 * JSON with the fields of `Settings` over those of a stage: `{ "stage": "production", "account": "…", "network": { … } }`. A
 * field that is not known is refused, and so is a type other than that of the default.
 */
import { readFileSync } from 'node:fs';
import { defaults, type Settings, settingsOf } from './settings.ts';

/** Fields without a default. */
const optional: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  account: 'string',
  region: 'string',
  tags: 'object',
  permissionsBoundaryArn: 'string',
  bootstrapQualifier: 'string',
  oidc: 'object',
  projectSecretsKeyArn: 'string',
  seals: 'object',
  flavorsAllowed: 'object',
  templates: 'object',
  domain: 'object',
  ownsApiLogRole: 'boolean',
  runbookUrl: 'string',
  alarmTopicArn: 'string',
};
/** `{ keyArn }` or a word. */
const free = ['encryption'];

/** The stage's own settings without a file. */
export const readSettings = (stage: string, path?: string): Settings => {
  if (path === undefined || path === '') return settingsOf(stage);
  const { stage: base = stage, ...given } = parsed(path);
  const settings = settingsOf(String(base));
  const problems = Object.entries(given).flatMap(([name, value]) => problemOf(name, value) ?? []);
  if (problems.length > 0) throw new Error(`${path}: ${problems.join('; ')}`);
  const { network, ...rest } = given as Partial<Settings>;
  return { ...settings, ...rest, network: { ...settings.network, ...network } };
};

const parsed = (path: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (cause) {
    throw new Error(`${path} is not readable JSON: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  throw new Error(`${path} must be an object of settings`);
};

const problemOf = (name: string, value: unknown): string | undefined => {
  if (free.includes(name)) return undefined;
  const wanted =
    optional[name] ?? (Object.hasOwn(defaults, name) ? typeof Reflect.get(defaults, name) : undefined);
  if (wanted === undefined) return `there is no setting ${name}`;
  return typeof value === wanted ? undefined : `${name} is a ${typeof value} and not a ${wanted}`;
};
