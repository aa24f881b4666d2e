/** Bodies with the choices of a client for its session, at its creation and later: details, lifetimes, network, thinking. */

import * as z from 'zod';
import {
  idleSecondsMax,
  labelValueCharactersMax,
  lifetimeSecondsMax,
  lifetimeSecondsMin,
  sessionLabelsMax,
  sessionTitleCharactersMax,
  sessionVariablesBytesMax,
  sessionVariablesMax,
} from '#shared/domain/limits.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import {
  type DetailsChange,
  decodeLabel,
  isLabelKey,
  isLabelValue,
  labelKeyRule,
  labelValueRule,
} from '#shared/domain/session-details.ts';
import { isPlatformVariable, isVariableName } from '#shared/domain/session-environment.ts';
import { treeLimitBounds } from '#shared/domain/session-tree.ts';
import type { SliceLimits } from '#shared/domain/tree-slice.ts';
import { filePath, plainName } from '../fields.ts';
import { hasNoNul, noNul, variablesBytes } from '../program-fields.ts';
import { network } from './network.ts';

export const labels = z
  .record(
    z.string().refine(isLabelKey, labelKeyRule),
    z.string().max(labelValueCharactersMax).refine(isLabelValue, labelValueRule),
  )
  .refine((given) => Object.keys(given).length <= sessionLabelsMax, `has at most ${sessionLabelsMax} labels`)
  .describe('Labels of the session, by key.');

export const idleSeconds = z
  .number()
  .int()
  .min(1)
  .max(idleSecondsMax)
  .describe("Seconds without activity after which the sandbox stops; absent: the deployment's limit.");

export const lifetimeSeconds = z
  .number()
  .int()
  .min(lifetimeSecondsMin)
  .max(lifetimeSecondsMax)
  .describe(
    'Seconds after its start at which the sandbox is saved and stopped, whatever runs in it; absent: no limit.',
  );

export const variables = z
  .record(
    z
      .string()
      .refine(isVariableName, 'is the name of a variable: letters, digits and underscores')
      .refine((name) => !isPlatformVariable(name), 'is a variable that the platform sets'),
    z.string().refine(hasNoNul, noNul),
  )
  .refine(
    (given) => Object.keys(given).length <= sessionVariablesMax,
    `has at most ${sessionVariablesMax} variables`,
  )
  .refine(
    (given) => variablesBytes(given) <= sessionVariablesBytesMax,
    `has at most ${sessionVariablesBytesMax} bytes`,
  )
  .describe('Environment variables of all programs in the sandbox. Their values are shown in no answer.');

export const cwd = filePath.describe(
  'Folder in which programs of the sandbox begin: relative to the workspace, where it is made, or absolute.',
);

export const thinking = z
  .enum(thinkingLevels)
  .describe('How long the model thinks before it answers; absent: as the model does by itself.');

export const maxCostUsd = z
  .number()
  .min(treeLimitBounds.costUsdMax.min)
  .max(treeLimitBounds.costUsdMax.max)
  .describe(
    "US dollars that the session and its descendants may spend on models; it only lowers the project's limit.",
  );

const whole = z.number().int().min(1);

/** The limits that a client gives a session and all below it, beside that of money. */
export const sliceBody = z
  .strictObject({
    maxTotalTokens: whole.optional().describe('Tokens of input and output.'),
    maxToolCalls: whole.optional().describe('Calls of tools.'),
    maxSandboxSeconds: whole.optional().describe('Seconds of sandboxes that they start.'),
    maxEgressBytes: whole.optional().describe('Bytes exchanged with hosts outside, both ways.'),
  })
  .refine((given) => Object.keys(given).length > 0, { error: 'name at least one limit' });

export const sliceLimitsOf = (given: z.output<typeof sliceBody>): SliceLimits => ({
  tokensMax: given.maxTotalTokens,
  toolCallsMax: given.maxToolCalls,
  ...(given.maxSandboxSeconds === undefined ? {} : { sandboxMsMax: given.maxSandboxSeconds * 1000 }),
  egressBytesMax: given.maxEgressBytes,
});

export const runtime = z.enum(runtimeNames);

/** A session's own part of the body that creates it. */
export const detailsOfNew = {
  env: variables.optional(),
  cwd: cwd.optional(),
  labels: labels.optional(),
  idleSeconds: idleSeconds.optional(),
  lifetimeSeconds: lifetimeSeconds.optional(),
  network: network
    .optional()
    .describe("Network of the sandbox, within the project's; absent: the project's."),
  thinking: thinking.optional(),
  maxCostUsd: maxCostUsd.optional(),
  slice: sliceBody
    .optional()
    .describe('Part that the session and its descendants may use; absent: no limit but those of money.'),
  runtime: runtime
    .optional()
    .describe("Program that carries the session's turns; absent: the project's, or the platform's own loop."),
};

/** A field that is null is removed. */
export const updateSessionBody = z.object({
  title: plainName(z.string().trim().min(1).max(sessionTitleCharactersMax)).nullish(),
  labels: labels.nullish().describe('All labels of the session from now on, by key.'),
  archived: z.boolean().nullish().describe('True: the session is left out of lists.'),
  idleSeconds: idleSeconds.nullish(),
  lifetimeSeconds: lifetimeSeconds.nullish(),
  network: network.optional(),
  thinking: thinking.nullish(),
  maxCostUsd: maxCostUsd.nullish(),
});

/** A filter of a list. */
const labelFilter = z
  .string()
  .transform((text, context) => {
    const label = decodeLabel(text);
    if (label === undefined) context.addIssue({ code: 'custom', message: 'must be key:value' });
    return label ?? z.NEVER;
  })
  .meta({ override: { type: 'string' } });

export const labelFilters = z
  .preprocess(
    (given: string | readonly string[]) => (typeof given === 'string' ? [given] : given),
    z.array(labelFilter).max(sessionLabelsMax),
  )
  .meta({ override: { type: 'array', items: { type: 'string' }, maxItems: sessionLabelsMax } });

const inMs = (seconds: number | null): number | undefined => (seconds === null ? undefined : seconds * 1000);

export const detailsChange = ({
  title,
  labels: given,
  archived,
  idleSeconds: idle,
  lifetimeSeconds: lifetime,
  thinking: level,
}: z.output<typeof updateSessionBody>): DetailsChange => ({
  ...(title === undefined ? {} : { title: title ?? undefined }),
  ...(given === undefined ? {} : { labels: isEmpty(given) ? undefined : (given ?? undefined) }),
  ...(archived === undefined ? {} : { isArchived: archived === true ? true : undefined }),
  ...(idle === undefined ? {} : { idleMs: inMs(idle) }),
  ...(lifetime === undefined ? {} : { lifetimeMs: inMs(lifetime) }),
  ...(level === undefined ? {} : { thinking: level ?? undefined }),
});

const isEmpty = (given: object | null): boolean => given !== null && Object.keys(given).length === 0;
