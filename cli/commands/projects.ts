/** `projects`: lists, creates, changes, shows and deletes projects. */
import { type EffectPolicy, readEffectRule } from '#sdk/effect-rules.ts';
import { readPages } from '#sdk/pages.ts';
import type { BodyOf } from '#sdk/route.ts';
import { api, type Project } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import {
  byId,
  type Call,
  type Command,
  deleted,
  given,
  idOf,
  listing,
  none,
  oneId,
  oneName,
  value,
  values,
} from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { networkFacts, networkNamed } from '../runtime/network.ts';
import { type Cell, factLines, tableLines } from '../runtime/output.ts';

const cellOf = (value: unknown): Cell =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
const facts = ({ network, ...project }: Project): readonly string[] =>
  factLines([
    ...Object.entries(project).map(([name, value]) => [name, cellOf(value)] as const),
    ...networkFacts(network),
  ]);

/** The default project is as old as the deployment, which records no time for it. */
const madeAt = (at: string): string => (Date.parse(at) === 0 ? '-' : at);

const list = async (call: Call): Promise<undefined> => {
  const projects = await readPages(
    (after) => call.request(api.listProjects, { query: { after } }),
    (page) => page.projects,
  );
  call.output.result({ projects }, () =>
    tableLines(
      ['ID', 'NAME', 'CREATED', 'DESCRIPTION'],
      projects.map(({ id, name, createdAt, description }) => [
        id,
        name,
        madeAt(createdAt),
        description ?? '',
      ]),
    ),
  );
};

const fields = [
  'description',
  'model',
  'thinking',
  'runtime',
  'flavor',
  'template',
  'approvals',
  'instructions',
];
/** Undefined where no option names any: the rules stay as they are. Names of tools are checked by the deployment. */
const effectsNamed = (call: Call): EffectPolicy | undefined => {
  const rules = call.list('effect-rule').map((line) => {
    const rule = readEffectRule(line);
    if (typeof rule === 'string') throw wrongUsage(`--effect-rule: ${rule}`);
    return rule;
  });
  const tools = call.list('effect-tool') as NonNullable<EffectPolicy['tools']>;
  if (rules.length + tools.length === 0) return undefined;
  return { ...(tools.length === 0 ? {} : { tools }), ...(rules.length === 0 ? {} : { rules }) };
};

const optionsOf = (call: Call) => ({
  ...Object.fromEntries(fields.map((field) => [field, call.text(field)])),
  network: networkNamed(call),
  effects: effectsNamed(call),
});
const create = async (call: Call): Promise<undefined> => {
  const name = call.positionals[0] ?? call.text('name');
  if (name === undefined) throw wrongUsage('a project name is required');
  const made = await call.request(api.makeProject, { body: given({ name, ...optionsOf(call) }) });
  call.output.result(made, () => [made.id]);
};

const get = async (call: Call): Promise<undefined> => {
  const project = await call.request(api.showProject, byId(call));
  call.output.result(project, () => facts(project));
};

/** A cleared field falls back to the deployment's default. */
const update = async (call: Call): Promise<undefined> => {
  const cleared = Object.fromEntries(call.list('clear').map((field) => [field, null]));
  const body = given<BodyOf<typeof api.changeProject>>({
    name: call.text('name'),
    ...optionsOf(call),
    ...cleared,
  });
  const changed = await call.request(api.changeProject, { ...byId(call), body });
  call.output.result(changed, () => facts(changed));
};

const remove = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.deleteProject, byId(call));
  call.output.result(deleted(answer, { id: idOf(call) }), () => [`Deleted ${idOf(call)}.`]);
};

const optionUsage =
  '[--description <text>] [--model <m>] [--thinking <level>] [--runtime <name>] [--flavor <f>] [--template <name>] [--approvals <policy>] [--effect-rule <rule>]… [--effect-tool <tool>]… [--instructions <text>] [--network <host>…] [--inject <host>/<header>=<secret>]…';
const projectDetails = [
  '--network replaces the hosts that its sandboxes may reach; none for no network.',
  '--inject puts a secret of the project into a header of every request to one of them; none for no rule.',
];
const options = {
  description: value,
  model: value,
  thinking: value,
  runtime: value,
  flavor: value,
  template: value,
  approvals: value,
  instructions: value,
  network: values,
  inject: values,
  'effect-rule': values,
  'effect-tool': values,
};

export const projectCommands: readonly Command[] = [
  ...listing('projects', { usage: '', summary: 'List projects', positionals: none, run: list }),
  {
    name: 'projects create',
    usage: `<name> ${optionUsage}`,
    summary: 'Create a project and print its id',
    details: projectDetails,
    options: { name: value, ...options },
    positionals: { ...oneName, min: 0 },
    run: create,
  },
  { name: 'projects get', usage: '<id>', summary: 'Show one project', positionals: oneId, run: get },
  {
    name: 'projects update',
    usage: `<id> [--name <name>] ${optionUsage} [--clear <field>]…`,
    summary: 'Change a project; the changes apply to new sessions',
    details: projectDetails,
    options: { name: value, clear: values, ...options },
    positionals: oneId,
    run: update,
  },
  {
    name: 'projects delete',
    usage: '<id>',
    summary: 'Delete a project without active sessions, and all its data',
    positionals: oneId,
    run: remove,
  },
];

/** The id of the default project, as the API defines it. */
const defaultProject = '00000000-0000-4000-8000-000000000000';

/** The id that `--project` names, else the token's own project, else the default one. */
export const projectOf = async (call: Call, client: Sallyport): Promise<string> =>
  call.text('project') ?? (await ownProject(client));

/** The token of a project lists only that project. */
const ownProject = async (client: Sallyport): Promise<string> => {
  const { projects, next } = await client.request(api.listProjects);
  const [first, second] = projects;
  return first === undefined || second !== undefined || next !== undefined ? defaultProject : first.id;
};
