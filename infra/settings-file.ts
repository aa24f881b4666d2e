/**
 * Settings of a stage in a file outside the repository, so that an upgrade of the source meets no edits of an operator.
 *
 * JSON with the fields of `Settings` over those of a stage: `{ "stage": "production", "account": "…", "network": { … } }`. No
 * compiler reads it, so a field that is not known is refused at every depth, and so is a value of another type.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { environments } from '#shared/config/environment.ts';
import { operatorSettings, providerKeys } from '#shared/config/settings.ts';
import { cpuUnits, type Settings, settingsOf } from './settings.ts';

const text = z.string();
const texts = z.array(text);

/** An object in which each name may be left out. */
const named = <T extends z.ZodType>(names: readonly string[], value: T) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, value.optional()])));

/** Keys of providers and the issuer have settings of their own. */
const variableNames = Object.keys(operatorSettings.shape).filter(
  (name) => !/^OIDC_|^SIGN_IN_SECONDS$/.test(name) && !providerKeys.some((key) => key === name),
);

const existingNetwork = z.strictObject({
  ...{ vpcId: text, cidr: text, availabilityZones: texts, subnetIds: texts, routeTableIds: texts },
  isIsolated: z.literal(true),
  endpointsGroupId: text.optional(),
});

const shape = {
  deployment: text,
  account: text,
  region: text,
  tags: z.record(text, text),
  permissionsBoundaryArn: text,
  bootstrapQualifier: text,
  variables: named(variableNames, text),
  oidc: z.strictObject({
    ...{ issuer: text, audience: text, scopeClaim: text.optional(), defaultScope: text.optional() },
    client: z
      .strictObject({
        ...{ id: text, secretArn: text.optional(), scopes: text.optional() },
        signInSeconds: z.number().optional(),
      })
      .optional(),
  }),
  providerKeyArns: named(providerKeys, text),
  encryption: z.union([z.literal(['aws-managed', 'customer-managed']), z.strictObject({ keyArn: text })], {
    error: 'is not one of aws-managed, customer-managed, { keyArn }',
  }),
  projectSecretsKeyArn: text,
  seals: z.strictObject({ objectLockDays: z.number() }),
  network: z
    .strictObject({
      ...{ cidr: text, zones: z.number(), zoneIds: texts, sharedWith: texts },
      flowLogs: z.literal(['refused', 'all']),
      existing: existingNetwork,
    })
    .partial(),
  flavorsAllowed: z.array(z.literal(Object.keys(cpuUnits))),
  templates: named(['python', 'node'], z.strictObject({ baseImage: text })),
  domain: z.strictObject({ name: text, certificateArn: text }),
  firewall: z.boolean(),
  distributionLogs: z.boolean(),
  logDays: z.number(),
  ownsApiLogRole: z.boolean(),
  alarmEmails: texts,
  runbookUrl: text,
  alarmTopicArn: text,
  requestsPerSecondMax: z.number(),
  requestBurstMax: z.number(),
  reservedConcurrency: named(Object.keys(environments), z.number()),
} satisfies Record<keyof Settings, z.ZodType>;

const fields = z.strictObject(shape).partial();

/** The stage's own settings without a file. */
export const readSettings = (stage: string, path?: string): Settings => {
  if (path === undefined || path === '') return settingsOf(stage);
  const { stage: base = stage, ...given } = parsed(path);
  const settings = settingsOf(String(base));
  const result = fields.safeParse(given, { reportInput: true });
  if (!result.success) throw new Error(`${path}: ${result.error.issues.flatMap(problemsOf).join('; ')}`);
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

const problemsOf = (issue: z.core.$ZodIssue): readonly string[] => {
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((name) => `there is no setting ${[...issue.path, name].join('.')}`);
  if (issue.code === 'invalid_union') return [`${at} ${issue.message}`];
  if (issue.code !== 'invalid_type') return [`${at}: ${issue.message}`];
  const article = /^[aeiou]/.test(issue.expected) ? 'an' : 'a';
  return [
    issue.input === undefined
      ? `${at} is missing`
      : `${at} is ${kindOf(issue.input)} and not ${article} ${issue.expected}`,
  ];
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};
