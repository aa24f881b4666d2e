/** Rules over effects, and the tools that are decided by their effect: as bodies, answers and the table have them. */
import * as z from 'zod';
import {
  effectPathCharactersMax,
  effectPathsMax,
  effectPolicyBytesMax,
  effectRulesMax,
  effectVerdicts,
  isRulePath,
  isShortEffectPolicy,
  triedTools,
} from '#shared/domain/effect-rule.ts';
import { onFirstUse } from './on-first-use.ts';

const tools = onFirstUse(() => z.array(z.enum(triedTools)).max(triedTools.length));
const paths = onFirstUse(() =>
  z
    .array(
      z
        .string()
        .max(effectPathCharactersMax)
        .refine(isRulePath, 'is a path of the workspace, such as src, src/a.ts or .'),
    )
    .max(effectPathsMax),
);

const effectRule = onFirstUse(() =>
  z.strictObject({
    verdict: z
      .enum(effectVerdicts)
      .describe(
        '`approve`: the call needs no person. `refuse`: the call does not happen. `ask`: a person decides.',
      ),
    tools: tools().exactOptional().describe('The call is of one of these tools.'),
    within: paths()
      .exactOptional()
      .describe('Every changed file is one of these or below one; `.`: anywhere.'),
    touches: paths().exactOptional().describe('Some changed file is one of these or below one.'),
    removes: z.boolean().exactOptional().describe('Whether it removes a file.'),
    wantsHosts: z
      .boolean()
      .exactOptional()
      .describe('Whether it asked for a host, a model or a tool of the platform.'),
    succeeds: z.boolean().exactOptional().describe('Whether the call and its program succeed.'),
    filesMax: z.number().int().min(0).exactOptional().describe('Most files that it changes.'),
    bytesMax: z
      .number()
      .int()
      .min(0)
      .exactOptional()
      .describe('Most bytes of the files that it makes or changes.'),
  }),
);

export const effectPolicy = onFirstUse(() =>
  z
    .strictObject({
      tools: tools()
        .exactOptional()
        .describe('Tools whose calls are tried and decided by their effect, whatever `approvals` is.'),
      rules: z
        .array(effectRule())
        .max(effectRulesMax)
        .exactOptional()
        .describe('The first rule that fits decides; where none fits a person is asked.'),
    })
    .refine(isShortEffectPolicy, `has at most ${effectPolicyBytesMax} bytes as JSON`),
);
