/** The program: its commands, the choice of one by the arguments, its exit code, and the help. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { approvalCommands, sessionDecisionCommands } from './commands/approvals.ts';
import { auditCommands } from './commands/audit.ts';
import { chatCommand } from './commands/chat.ts';
import { clientCommands } from './commands/client.ts';
import { codeCommand } from './commands/code.ts';
import { execCommand } from './commands/exec.ts';
import { fileCommands } from './commands/files.ts';
import { grantCommands } from './commands/grants.ts';
import { loginCommand, logoutCommand, whoamiCommand } from './commands/login.ts';
import { mcpCommands } from './commands/mcp.ts';
import { modelCommands } from './commands/models.ts';
import { networkCommands } from './commands/network.ts';
import { newSessionCommand } from './commands/new-session.ts';
import { projectCommands } from './commands/projects.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { searchCommands } from './commands/search.ts';
import { secretCommands } from './commands/secret.ts';
import { sessionMessageCommands } from './commands/session-messages.ts';
import { sessionCommands } from './commands/sessions.ts';
import { setupCommands } from './commands/setup.ts';
import { shellCommand } from './commands/shell.ts';
import { snapshotCommands } from './commands/snapshots.ts';
import { statsCommand } from './commands/stats.ts';
import { tokenCommands } from './commands/token.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workspaceCommands } from './commands/workspaces.ts';
import { makeClient } from './runtime/client.ts';
import { type Call, type Command, nearest, parseCommand, usageLine, usageLines } from './runtime/command.ts';
import { advised, requireDeployment } from './runtime/deployment.ts';
import { isEnded, toFailure, wrongUsage } from './runtime/failure.ts';
import type { Host } from './runtime/host.ts';
import { makeOutput, type Output } from './runtime/output.ts';
import { withWholeIds } from './runtime/session-ids.ts';

/** The commands by the tasks they serve, in the order of the help. */
const groups: Readonly<Record<string, readonly Command[]>> = {
  'Log in': [loginCommand, logoutCommand, whoamiCommand],
  'Work with agents': [
    chatCommand,
    ...approvalCommands,
    ...grantCommands,
    newSessionCommand,
    ...sessionCommands,
    ...searchCommands,
    ...sessionMessageCommands,
    ...sessionDecisionCommands,
  ],
  'Run programs in sandboxes': [
    execCommand,
    codeCommand,
    shellCommand,
    ...fileCommands,
    ...snapshotCommands,
    ...networkCommands,
  ],
  'Set up projects': [
    ...projectCommands,
    ...workspaceCommands,
    ...scheduleCommands,
    ...secretCommands,
    ...mcpCommands,
    ...webhookCommands,
  ],
  'Connect programs': [...tokenCommands, ...clientCommands, ...setupCommands],
  'Operate a deployment': [...modelCommands, ...auditCommands, statsCommand],
};

export const commands: readonly Command[] = Object.values(groups).flat();

export const runProgram = async (args: readonly string[], host: Host): Promise<number> => {
  const output = makeOutput(host, isJsonRequested(args));
  try {
    return await dispatch(args, host, output);
  } catch (error) {
    const failed = toFailure(error);
    if (!isEnded(failed)) output.failure(failed.body);
    return failed.exitCode;
  }
};

/** Applies even to a command line that cannot be parsed; arguments after `--` belong to the other program. */
const isJsonRequested = (args: readonly string[]): boolean => {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
};

const dispatch = async (args: readonly string[], host: Host, output: Output): Promise<number> => {
  const { flags, words } = leadingFlags(args);
  if (flags.includes('--version') || flags.includes('-v')) return printVersion(output);
  const [first] = words;
  if (first === 'version') return printVersion(output);
  if (first === undefined || first === 'help') return printHelp(words.slice(1), output);
  const { command, rest } = findCommand(words);
  if (flags.includes('--help') || flags.includes('-h')) return printCommandHelp(command, output);
  const parsed = parseCommand(command, [...flags, ...rest.args], commands);
  if (parsed.isSet('help')) return printCommandHelp(command, output);
  let found: ReturnType<typeof requireDeployment> | undefined;
  let made: ReturnType<Call['client']> | undefined;
  const client: Call['client'] = () => {
    found ??= requireDeployment(host);
    made ??= found.then(makeClient);
    return made;
  };
  const request: Call['request'] = async (...given) => (await client()).request(...given);
  try {
    const call = await withWholeIds(command, { ...parsed, host, output, client, request });
    return (await command.run(call)) ?? 0;
  } catch (error) {
    throw found === undefined ? error : advised(error, await found);
  }
};

const programFlags = new Set(['--json', '--help', '-h', '--version', '-v']);

const leadingFlags = (args: readonly string[]) => {
  const first = args.findIndex((arg) => !programFlags.has(arg));
  const end = first < 0 ? args.length : first;
  return { flags: args.slice(0, end), words: args.slice(end) };
};

/** Prefers a name of two words: `token create` is not `token` with an argument. */
const findCommand = (words: readonly string[]) => {
  const [first = '', second = ''] = words;
  const long = commands.find(({ name }) => name === `${first} ${second}`);
  if (long !== undefined) return { command: long, rest: { args: words.slice(2) } };
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  const short = commands.find(({ name }) => name === first);
  const isWord = second !== '' && !second.startsWith('-');
  const takesWord =
    short !== undefined && short.positionals.max > 0 && !isNearSubcommand(first, second, group);
  if (group.length > 0 && (short === undefined || (isWord && !takesWord)))
    throw unknownSubcommand(first, second, group);
  if (short !== undefined) return { command: short, rest: { args: words.slice(1) } };
  throw unknownCommand(first);
};

const subcommandsOf = (first: string, group: readonly Command[]): readonly string[] =>
  group.map(({ name }) => name.slice(first.length + 1));

/** An argument that looks like a mistyped subcommand is treated as one: `grants withdrw`. An id begins with hexadecimal digits. */
const isNearSubcommand = (first: string, second: string, group: readonly Command[]): boolean =>
  !/^[0-9a-f]{4}/i.test(second) && nearest(second, subcommandsOf(first, group)) !== undefined;

const unknownSubcommand = (first: string, second: string, group: readonly Command[]) => {
  const parts = subcommandsOf(first, group);
  const suggestion = nearest(second, parts);
  return wrongUsage(
    second === '' || second.startsWith('-')
      ? `'${first}' needs a subcommand`
      : `unknown command '${first} ${second}'`,
    [
      ...(suggestion === undefined || second === ''
        ? []
        : [`Did you mean \`sallyport ${first} ${suggestion}\`?`]),
      `Subcommands: ${parts.map((part) => `${first} ${part}`).join(', ')}.`,
    ],
  );
};

const unknownCommand = (word: string) => {
  if (word.startsWith('-'))
    return wrongUsage(`unknown option '${word}'`, ['Run `sallyport help` for the commands.']);
  const suggestion = nearest(word, [
    ...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name)),
    'help',
  ]);
  return wrongUsage(`unknown command '${word}'`, [
    ...(suggestion === undefined ? [] : [`Did you mean \`sallyport ${suggestion}\`?`]),
    'Run `sallyport help` for all commands.',
  ]);
};

const printVersion = async (output: Output): Promise<number> => {
  const text = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  output.result({ version }, () => [version]);
  return 0;
};

const printHelp = (words: readonly string[], output: Output): number => {
  if (words[0] !== undefined && !words[0].startsWith('-')) {
    const group = commands.filter(({ name }) => name === words[0] || name.startsWith(`${words[0]} `));
    const exact = group.find(({ name }) => name === words.join(' '));
    if (exact !== undefined) return printCommandHelp(exact, output);
    if (group.length === 0) throw unknownCommand(words[0]);
    output.result(group.map(described), () => overview(group));
    return 0;
  }
  output.result(commands.map(described), () => [
    'sallyport: agents with tools in isolated sandboxes, from a terminal.',
    '',
    'Usage: sallyport <command> [arguments]',
    '',
    ...groupedOverview(),
    'Global options: --json prints JSON for programs, --help explains a command, --version prints the version.',
    'The first characters of a session’s id are enough, at least four, as long as no other id begins so.',
    'SALLYPORT_URL and SALLYPORT_TOKEN take precedence over the stored login.',
    'Exit codes: 0 success, 1 error, 2 wrong usage; `exec`, `code` and `shell` exit with the code of their program.',
  ]);
  return 0;
};

const described = ({ name, usage, summary }: Command) => ({ name, usage, summary });

/** `sessions` and `sessions list` are one command, shown once. */
const overview = (all: readonly Command[], width = widthOf(all)): readonly string[] =>
  all
    .filter(({ name }) => !name.endsWith(' list'))
    .map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);

const widthOf = (all: readonly Command[]): number => Math.max(...all.map(({ name }) => name.length));

/** All commands below the titles of their groups, in columns of one width. */
const groupedOverview = (): readonly string[] => {
  const width = widthOf(commands);
  return Object.entries(groups).flatMap(([title, all]) => [title, ...overview(all, width), '']);
};

/** The help of `mcp` includes all commands that begin with it. */
const siblings = ({ name }: Command): readonly string[] => {
  const others = commands.filter(
    (other) => other.name.startsWith(`${name} `) && other.name !== `${name} list`,
  );
  return others.length === 0 ? [] : ['', 'Subcommands:', ...overview(others)];
};

const printCommandHelp = (command: Command, output: Output): number => {
  output.result(described(command), () => [
    `${command.summary}.`,
    '',
    ...usageLines(usageLine(command)),
    ...(command.details === undefined ? [] : ['', ...command.details]),
    ...siblings(command),
  ]);
  return 0;
};
