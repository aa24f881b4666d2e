/**
 * Rules over effects in the project form: a row of fields for each, and the tools that are decided by their effect. Pure.
 *
 * An empty field is no condition. An empty list of a rule is one that hardly anything fits, so it is kept as it was.
 */
import type { EffectPolicy, EffectRule } from '#sdk/effect-rules.ts';
import { isRulePath, type TriedTool } from '#shared/domain/effect-rule.ts';

type Choice = '' | 'yes' | 'no';
type Tools = readonly TriedTool[];

export type RuleDraft = {
  readonly verdict: EffectRule['verdict'];
  /** None: any. */
  readonly tools: Tools;
  /** Paths, one on each line. */
  readonly within: string;
  readonly touches: string;
  readonly removes: Choice;
  readonly wantsHosts: Choice;
  readonly succeeds: Choice;
  readonly filesMax: string;
  readonly bytesMax: string;
  /** The lists that it had empty. */
  readonly empty: readonly ('tools' | 'within' | 'touches')[];
};

export type EffectDraft = { readonly effectRules: readonly RuleDraft[]; readonly effectTools: Tools };

export const newRule = (): RuleDraft => ({
  ...{ verdict: 'ask', tools: [], within: '', touches: '' },
  ...{ removes: '', wantsHosts: '', succeeds: '', filesMax: '', bytesMax: '', empty: [] },
});

export const effectDraftOf = ({ rules = [], tools = [] }: EffectPolicy = {}): EffectDraft => ({
  effectRules: rules.map(ruleDraftOf),
  effectTools: tools,
});

const ruleDraftOf = (rule: EffectRule): RuleDraft => ({
  verdict: rule.verdict,
  tools: rule.tools ?? [],
  within: (rule.within ?? []).join('\n'),
  touches: (rule.touches ?? []).join('\n'),
  removes: choiceOf(rule.removes),
  wantsHosts: choiceOf(rule.wantsHosts),
  succeeds: choiceOf(rule.succeeds),
  filesMax: String(rule.filesMax ?? ''),
  bytesMax: String(rule.bytesMax ?? ''),
  empty: (['tools', 'within', 'touches'] as const).filter((list) => rule[list]?.length === 0),
});

const choiceOf = (is: boolean | undefined): Choice => (is === undefined ? '' : is ? 'yes' : 'no');

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The first problem, with the number of its rule. */
export const effectProblem = ({ effectRules }: EffectDraft): { readonly effectRules?: string } => {
  const problems = effectRules.flatMap((rule, index) => {
    const problem = ruleProblem(rule);
    return problem === undefined ? [] : [`Rule ${index + 1}: ${problem}`];
  });
  return problems[0] === undefined ? {} : { effectRules: problems[0] };
};

const ruleProblem = ({ within, touches, filesMax, bytesMax }: RuleDraft): string | undefined => {
  const path = [...linesOf(within), ...linesOf(touches)].find((line) => !isRulePath(line));
  if (path !== undefined)
    return `${path} is not a path in the workspace, such as src, src/a.ts or a single dot.`;
  const isNumber = [filesMax, bytesMax].every((text) => /^\d{0,15}$/.test(text.trim()));
  return isNumber ? undefined : 'Enter whole numbers of files and bytes.';
};

/** Null where there are none. */
export const effectsOfDraft = ({ effectRules, effectTools }: EffectDraft): EffectPolicy | null => {
  if (effectRules.length + effectTools.length === 0) return null;
  return {
    ...(effectTools.length === 0 ? {} : { tools: [...effectTools] }),
    ...(effectRules.length === 0 ? {} : { rules: effectRules.map(ruleOf) }),
  };
};

const ruleOf = (draft: RuleDraft): EffectRule => {
  const { verdict, tools, within, touches, removes, wantsHosts, succeeds, filesMax, bytesMax, empty } = draft;
  const fields = {
    tools: tools.length === 0 && !empty.includes('tools') ? undefined : [...tools],
    within: pathsOf(within, empty.includes('within')),
    touches: pathsOf(touches, empty.includes('touches')),
    ...{ removes: isOf(removes), wantsHosts: isOf(wantsHosts), succeeds: isOf(succeeds) },
    ...{ filesMax: numberOf(filesMax), bytesMax: numberOf(bytesMax) },
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { verdict, ...(Object.fromEntries(given) as Omit<EffectRule, 'verdict'>) };
};

const pathsOf = (text: string, wasEmpty: boolean): string[] | undefined => {
  const paths = linesOf(text);
  return paths.length === 0 && !wasEmpty ? undefined : paths;
};
const isOf = (choice: Choice): boolean | undefined => (choice === '' ? undefined : choice === 'yes');
const numberOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));

export const verdictChoices = [
  { value: 'approve', label: 'Approve' },
  { value: 'ask', label: 'Ask a person' },
  { value: 'refuse', label: 'Refuse' },
] as const;

export const removesChoices = [
  { value: '', label: 'Any removals' },
  { value: 'no', label: 'No file is removed' },
  { value: 'yes', label: 'A file is removed' },
] as const;

export const hostsChoices = [
  { value: '', label: 'Any network use' },
  { value: 'no', label: 'No host, model or platform tool is called' },
  { value: 'yes', label: 'A host, model or platform tool is called' },
] as const;

export const succeedsChoices = [
  { value: '', label: 'Any exit code' },
  { value: 'yes', label: 'It succeeds' },
  { value: 'no', label: 'It fails' },
] as const;
