/** Rules over effects as options name them: a rule a line, and tools that are decided by their effect. */
import { type EffectPolicy, readEffectRule } from '#sdk/effect-rules.ts';
import type { Call } from './command.ts';
import { wrongUsage } from './failure.ts';

/** Undefined where no option names any: the rules stay as they are. Names of tools are checked by the deployment. */
export const effectsNamed = (call: Call): EffectPolicy | undefined => {
  const rules = call.list('effect-rule').map((line) => {
    const rule = readEffectRule(line);
    if (typeof rule === 'string') throw wrongUsage(`--effect-rule: ${rule}`);
    return rule;
  });
  const tools = call.list('effect-tool') as NonNullable<EffectPolicy['tools']>;
  if (rules.length + tools.length === 0) return undefined;
  return { ...(tools.length === 0 ? {} : { tools }), ...(rules.length === 0 ? {} : { rules }) };
};
