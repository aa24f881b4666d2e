/** `projects`: listed, made, shown. */
import { type Call, type Command, given } from '../command.ts';
import { wrongUsage } from '../failure.ts';
import { listAll, segment } from '../http-client.ts';
import { type Cell, factLines, tableLines } from '../table.ts';

type Project = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly createdAt: string;
} & Readonly<Record<string, unknown>>;

const cellOf = (value: unknown): Cell =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
const facts = (project: Project): readonly string[] =>
  factLines(Object.entries(project).map(([name, value]) => [name, cellOf(value)] as const));

const list = async (call: Call): Promise<undefined> => {
  const projects = await listAll<Project>(await call.client(), '/api/projects', 'projects');
  call.output.result({ projects }, () =>
    tableLines(
      ['ID', 'NAME', 'CREATED', 'DESCRIPTION'],
      projects.map(({ id, name, createdAt, description }) => [id, name, createdAt, description ?? '']),
    ),
  );
};

const create = async (call: Call): Promise<undefined> => {
  const name = call.positionals[0] ?? call.text('name');
  if (name === undefined) throw wrongUsage('a project needs a name');
  const fields = ['description', 'flavor', 'template', 'approvals'];
  const wish = Object.fromEntries(fields.map((field) => [field, call.text(field)]));
  const made = await (await call.client()).send<Project>('POST', '/api/projects', given({ name, ...wish }));
  call.output.result(made, () => facts(made));
};

const get = async (call: Call): Promise<undefined> => {
  const [id = ''] = call.positionals;
  const project = await (await call.client()).get<Project>(`/api/projects/${segment(id)}`);
  call.output.result(project, () => facts(project));
};

const listing = { usage: '', summary: 'List projects', positionals: { min: 0, max: 0 }, run: list };

export const projectCommands: readonly Command[] = [
  { name: 'projects', ...listing },
  { name: 'projects list', ...listing },
  {
    name: 'projects create',
    usage: '<name> [--description <text>] [--flavor <f>] [--template python|node] [--approvals <policy>]',
    summary: 'Make a project',
    options: {
      name: { type: 'string' },
      description: { type: 'string' },
      flavor: { type: 'string' },
      template: { type: 'string' },
      approvals: { type: 'string' },
    },
    positionals: { min: 0, max: 1 },
    run: create,
  },
  {
    name: 'projects get',
    usage: '<id>',
    summary: 'Show one project',
    positionals: { min: 1, max: 1 },
    run: get,
  },
];
