/**
 * Stacks of every stage, created by moto's CloudFormation in the order of a deploy: of each, what was created and what moto has no
 * code for. A resource that it has code for and does not create is a fault. It would run the functions of custom resources in Docker:
 * they are skipped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { settingsOf } from '../../infra/settings.ts';
import type { Template } from '../../infra/stacks/synthesise.ts';
import { pythonTool, versionOf } from './installed.ts';
import { createdIn, createStack, motoKey, motoTool, outputsOf, putParameter, region } from './moto.ts';
import { asCreatable } from './moto-template.ts';
import { printed, serve } from './programs.ts';
import type { Proof } from './proof.ts';
import { templatesOfStages } from './templates.ts';

const account = '123456789012';
/** As a deploy creates them. */
const order = ['data', 'network', 'compute', 'firewall', 'edge', 'observability'] as const;

export const stacksByMoto: Proof = {
  name: 'cloudformation',
  about: 'the stacks of every stage, created by moto’s CloudFormation',
  prove: async (say) => {
    const programs = await pythonTool(motoTool);
    const version = `moto ${motoTool.version}, ${await versionOf(`${programs}/python`)}`;
    say(version);
    const stages = templatesOfStages();
    const types = await typesKnown(`${programs}/python`, Object.values(stages).flatMap(Object.values));
    const faults: string[] = [];
    for (const [stage, templates] of Object.entries(stages)) {
      await using moto = await serve({
        program: `${programs}/moto_server`,
        args: (port) => ['-H', '127.0.0.1', '-p', String(port)],
      });
      await prepare(moto.url, Object.values(templates));
      const outputs = new Map<string, string>();
      for (const name of order) {
        const template = templates[name];
        if (template === undefined) continue;
        const stack = `${settingsOf(stage).deployment}-${name}`;
        const { created, skipped, fault } = await create({
          url: moto.url,
          ...{ stack, template, types, outputs },
        });
        say(`${stack}: ${created}; skipped: ${skipped === '' ? 'none' : skipped}`);
        if (fault === undefined) continue;
        await sleep(printMs);
        faults.push(`${stack}: ${fault}; ${lastError(moto.output())}`);
      }
    }
    return { version, faults };
  },
};

/** The server prints its reason a little after its answer. */
const printMs = 1000;

/** The server answers an error of its own with a page, and prints its reason. */
const lastError = (output: string): string =>
  output.split('\n').findLast((line) => /^[\w.]*(?:Error|Exception)\b/.test(line)) ?? 'it printed no error';

const typesOf = ({ Resources }: Template): readonly string[] =>
  Object.values(Resources).map(({ Type }) => Type);

const question = [
  'import json, sys',
  'from moto.cloudformation.parsing import resource_class_from_type',
  'print(json.dumps([name for name in sys.argv[1:] if resource_class_from_type(name)]))',
].join('\n');

/** The types that moto's CloudFormation has code for. */
const typesKnown = async (python: string, templates: readonly Template[]): Promise<ReadonlySet<string>> => {
  const types = [...new Set(templates.flatMap(typesOf))];
  const out = await printed(python, ['-W', 'ignore', '-c', question, ...types]);
  return new Set(JSON.parse(out.split('\n').findLast((line) => line.startsWith('[')) ?? '[]') as string[]);
};

/** Makes what the bootstrap of the CDK leaves in an account, and the code that it uploads. */
const prepare = async (url: string, templates: readonly Template[]): Promise<void> => {
  await putParameter(url, '/cdk-bootstrap/hnb659fds/version', '29');
  const s3 = new S3Client({ endpoint: url, region, credentials: motoKey, forcePathStyle: true });
  const Bucket = `cdk-hnb659fds-assets-${account}-${region}`;
  await s3.send(new CreateBucketCommand({ Bucket }));
  const keys = templates.flatMap(({ Resources }) =>
    Object.values(Resources).flatMap(({ Properties }) => Properties?.Code?.S3Key ?? []),
  );
  for (const Key of new Set<string>(keys))
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: emptyZip }));
  s3.destroy();
};

/** The end of a directory without entries. */
const emptyZip = Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)]);

type Creation = {
  readonly url: string;
  readonly stack: string;
  readonly template: Template;
  readonly types: ReadonlySet<string>;
  /** By stack and name; those of this one are added. */
  readonly outputs: Map<string, string>;
};

const create = async ({ url, stack, template, types, outputs }: Creation) => {
  const missing: string[] = [];
  const {
    template: known,
    ids,
    ...counts
  } = asCreatable(template, {
    knows: (type) => types.has(type) && !type.startsWith('Custom::'),
    outputOf: (other, name) => {
      const value = outputs.get(`${other} ${name}`);
      if (value === undefined) missing.push(`${other} ${name}`);
      return value ?? '';
    },
  });
  const skipped = listed(counts.skipped);
  const refused = await createStack({ url, stack, template: known, parameters: parametersOf(template) });
  if (refused !== undefined) return { created: 'not created', skipped, fault: refused };
  for (const [name, value] of await outputsOf(url, stack)) outputs.set(`${stack} ${name}`, value);
  const created = await createdIn(url, stack);
  const lost = ids.filter((id) => !created.has(id));
  const problems = [
    ...lost.map((id) => `${id} was not created`),
    ...missing.map((output) => `no stack before it has the output ${output}`),
  ];
  return {
    created: `${created.size} created: ${listed(counts.kept)}`,
    skipped,
    fault: problems.length === 0 ? undefined : problems.join('; '),
  };
};

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([type, count]) => `${count} ${type}`)
    .join(', ');

/** As a first deploy gives them. */
const parametersOf = ({ Parameters = {} }: Template): Readonly<Record<string, string>> => {
  const zones = Object.keys(Parameters).filter((name) => /^Zone\d+Id$/.test(name));
  return {
    ...Object.fromEntries(zones.map((name, index) => [name, `euc1-az${index + 1}`])),
    ...('AdminTokenSha256' in Parameters && { AdminTokenSha256: 'ab'.repeat(32) }),
  };
};
