/** The floor of a cold start: what is imported of libraries, and nothing else. */
import { expect, test } from 'vitest';
import { libraryEntry } from './library-entry.ts';

const of = (...texts: string[]): string => libraryEntry(texts.map((text) => ({ path: 'a.ts', text })));

test('names of packages are kept once, whoever imports them', () => {
  expect(
    of(
      "import { join } from 'node:path';\nimport { GetCommand, type Item } from '@aws-sdk/lib-dynamodb';\nimport { mine } from './mine.ts';",
      "import {\n  GetCommand as Get,\n  PutCommand,\n} from '@aws-sdk/lib-dynamodb';\nimport type { Logger } from 'logger';",
    ),
  ).toBe(
    [
      "import { GetCommand as part0 } from '@aws-sdk/lib-dynamodb';",
      "import { PutCommand as part1 } from '@aws-sdk/lib-dynamodb';",
      'globalThis.kept = [part0, part1];\n',
    ].join('\n'),
  );
});

test('a namespace is kept by the members that are used as values', () => {
  expect(
    of(
      "import * as z from 'zod';\nconst one = z.object({ a: z.string() });\ntype One = z.output<typeof one>;",
      "import * as z from 'zod';\nconst two = z.string();",
    ),
  ).toBe("import * as part0 from 'zod';\nglobalThis.kept = [part0.object, part0.string];\n");
});

test('a default export is kept, and ours are not', () => {
  expect(
    of("import middy, { type Middy } from '@middy/core';\nimport { id } from '#shared/domain/ids.ts';"),
  ).toBe("import { default as part0 } from '@middy/core';\nglobalThis.kept = [part0];\n");
});
