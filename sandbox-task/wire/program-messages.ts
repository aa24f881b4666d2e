/**
 * The messages to two kinds of user program: an interpreter, which runs one piece of code at a time over frames, and an
 * MCP server over stdio; and the bounds of their answers.
 *
 * Their answers are untrusted twice: they come from user code, and the runner that reads them has the user's identity.
 * The messages that carry them are in messages.ts.
 */
import type { JsonObject } from '#shared/domain/json.ts';

const languages = ['python', 'node'] as const;
export type Language = (typeof languages)[number];
export const isLanguage = (text: string): text is Language => (languages as readonly string[]).includes(text);

/** Names an interpreter: definitions last in it, and no other has them. */
export type CodeContext = { readonly language: Language; readonly context: string };

export const contextKey = ({ language, context }: CodeContext): string => `${language} ${context}`;

/** Of one language, or of all. */
export const keysOf = (context: string, language: Language | null): readonly string[] =>
  (language === null ? languages : [language]).map((each) => contextKey({ language: each, context }));

/** Interpreters of a sandbox, of all languages. */
export const contextsMax = 8;
/** The contexts whose end is remembered, so that their loss is reported. */
export const rememberedContextsMax = 1000;

export type InterpreterRequest = {
  readonly type: 'run';
  /** Counts the calls of this sandbox: the code's name in tracebacks. */
  readonly number: number;
  /** Written to stdout and stderr before the code's own output and after it. */
  readonly begin: string;
  readonly end: string;
  /** The working folder and variables of this call alone. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** One form of a result; its data has this length in the payload. Text is UTF-8, JSON its text, an image its bytes. */
export type ResultPart = { readonly mimeType: string; readonly bytes: number };
/** One MIME bundle: what was displayed, or the value of the last expression. */
export type ResultShape = { readonly isValue: boolean; readonly parts: readonly ResultPart[] };

export type InterpreterMessage =
  | { readonly type: 'ready' }
  /** The payload is the parts, one after another, or nothing when they are longer than may be shown. */
  | ({ readonly type: 'result' } & ResultShape)
  | { readonly type: 'done'; readonly exitCode: number; readonly errorLine: string | null };

/** The bound of one result, and of all of one call. */
export const resultBytesMax = 4 * 1_048_576;
/** Of all JSON of one call, which takes more memory than its text. */
export const jsonBytesMax = 512 * 1024;
/** Displayed ones; the value of the last expression is one more. */
export const resultsMax = 8;
export const resultPartsMax = 16;
export const resultMimeType = /^(?:image|text|application)\/[\w.+-]{1,100}$/;

export const isJsonType = (mimeType: string): boolean =>
  mimeType === 'application/json' || mimeType.endsWith('+json');
export const isTextType = (mimeType: string): boolean =>
  mimeType.startsWith('text/') || mimeType === 'image/svg+xml' || mimeType === 'application/javascript';

export type StdioServerConfig = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** In the workspace or the shared folder; the workspace when absent. */
  readonly cwd?: string | undefined;
};

export type StdioAsk =
  | { readonly type: 'list' }
  | { readonly type: 'call'; readonly tool: string; readonly arguments: JsonObject };

/** One request to one MCP server. */
export type StdioWork = { readonly server: StdioServerConfig; readonly ask: StdioAsk };

export type StdioBlock = { readonly mimeType: string; readonly bytes: number };

export const toolsMax = 500;
export const toolListBytesMax = 1_048_576;
export const serverNameCharactersMax = 64;
export const toolNameCharactersMax = 256;
export const toolDescriptionCharactersMax = 8192;
/** One more block may count the blocks that were left out. */
export const blocksMax = 100;
export const structuredBytesMax = 256 * 1024;
