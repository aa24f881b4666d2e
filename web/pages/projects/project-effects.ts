/** Rules over effects in the project form: a rule a line, and the tools that are decided by their effect. Pure. */
import { type EffectPolicy, effectRuleLine, readEffectRule } from '#sdk/effect-rules.ts';

export type EffectDraft = { readonly effectRules: string; readonly effectTools: string };

export const effectDraftOf = ({ rules = [], tools = [] }: EffectPolicy = {}): EffectDraft => ({
  effectRules: rules.map(effectRuleLine).join('\n'),
  effectTools: tools.join('\n'),
});

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** The first line that is no rule. */
export const effectProblem = ({ effectRules }: EffectDraft): { readonly effectRules?: string } => {
  const problem = linesOf(effectRules)
    .map(readEffectRule)
    .find((rule) => typeof rule === 'string');
  return problem === undefined ? {} : { effectRules: `Rules over effects: ${problem}.` };
};

/** Null where there are none. A line that is no rule is a problem of the form, which is not sent then. */
export const effectsOfDraft = ({ effectRules, effectTools }: EffectDraft): EffectPolicy | null => {
  const rules = linesOf(effectRules)
    .map(readEffectRule)
    .filter((rule) => typeof rule !== 'string');
  const tools = effectTools.split(/[\s,]+/).filter((name) => name !== '');
  if (rules.length + tools.length === 0) return null;
  return {
    // The deployment says which names are tools that can be tried.
    ...(tools.length === 0 ? {} : { tools: [...new Set(tools)] as NonNullable<EffectPolicy['tools']> }),
    ...(rules.length === 0 ? {} : { rules }),
  };
};
