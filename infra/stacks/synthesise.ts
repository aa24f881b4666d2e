/**
 * The templates of a stage, synthesised in this process with the context of `cdk.json` and without bundling.
 *
 * The rules of CloudFormation's own schema take most of a synth, and are off unless a test of them needs them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { inRepository } from '../constructs/repository-path.ts';
import { type Settings, settingsOf } from '../settings.ts';
import { addSallyport } from './sallyport.ts';

export type Resource = {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a resource is CloudFormation's, and each test asserts its own part
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
};

export type Template = {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Export?: unknown }>>;
};

export type StackName = 'data' | 'network' | 'compute' | 'edge' | 'observability';

/** With the firewall's if the settings enable it. */
export type Synthesised = Readonly<Record<StackName, Template>> & { readonly firewall?: Template };

export type SynthesisOptions = {
  readonly settings?: Partial<Settings>;
  readonly withSchemaRules?: boolean;
  readonly alter?: (app: App) => void;
};

const made = new Map<string, Synthesised>();

/** The same settings give the same templates, which are made once. */
export const synthesise = (options: SynthesisOptions = {}): Synthesised => {
  if (options.alter !== undefined) return synthesiseAnew(options);
  const key = JSON.stringify(options);
  const templates = made.get(key) ?? synthesiseAnew(options);
  made.set(key, templates);
  return templates;
};

const synthesiseAnew = ({ settings = {}, withSchemaRules = false, alter }: SynthesisOptions): Synthesised => {
  const outdir = mkdtempSync(join(tmpdir(), 'sallyport-synth-'));
  try {
    const app = new App({
      outdir,
      analyticsReporting: false,
      context: {
        ...contextOfCdkJson(),
        '@aws-cdk/core:validateAgainstDefaultRules': withSchemaRules,
        'aws:cdk:bundling-stacks': [],
      },
    });
    const stacks = addSallyport(app, { ...settingsOf('production'), ...settings });
    alter?.(app);
    const assembly = app.synth();
    return Object.fromEntries(
      Object.entries(stacks).map(([name, { stackName }]) => [
        name,
        assembly.getStackByName(stackName).template,
      ]),
    ) as Synthesised;
  } finally {
    rmSync(outdir, { recursive: true });
  }
};

const contextOfCdkJson = (): Record<string, unknown> =>
  JSON.parse(readFileSync(inRepository('cdk.json'), 'utf8')).context;

export const ofType = (template: Template, type: string): readonly Resource[] =>
  Object.values(template.Resources).filter((resource) => resource.Type === type);

/** The one resource of a type whose logical id starts so. */
export const named = (template: Template, type: string, prefix: string): Resource => {
  const found = Object.entries(template.Resources).filter(
    ([id, resource]) => resource.Type === type && id.startsWith(prefix),
  );
  const [only, ...others] = found;
  if (only === undefined || others.length > 0)
    throw new Error(`${found.length} of ${type} start with ${prefix}`);
  return only[1];
};

const outputReferences = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { 'Fn::GetStackOutput': output } = value as { readonly 'Fn::GetStackOutput'?: OutputReference };
  if (output !== undefined) return [`${output.StackName} ${output.OutputName}`];
  return Object.values(value).flatMap(outputReferences);
};

type OutputReference = { readonly StackName: string; readonly OutputName: string };

/** The outputs of other stacks that a stack reads: `<stack> <output>`, each once. */
export const readOutputs = ({ Resources }: Template): readonly string[] => [
  ...new Set(outputReferences(Resources)),
];
