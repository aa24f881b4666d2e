/** Results of code as MIME bundles, and the contexts in which code runs. W12 of docs/spec/sandbox.md. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readResults, toBlocks, toBundles } from './code-results.ts';
import { startTestSandbox, type TestSandbox, type ToolResult, waitFor } from './sandbox-fixture.ts';
import type { Exit } from './user-side.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  const files = {
    'matplotlib/__init__.py': '',
    'matplotlib/pyplot.py': pyplot,
    'pandas/__init__.py': pandas,
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(sandbox.workspace, name, '..'), { recursive: true });
    await writeFile(join(sandbox.workspace, name), content);
  }
  sandbox.own();
});
afterAll(() => sandbox.stop());

/** Stand-ins that speak as matplotlib and pandas do. */
const pyplot = `
class Formatter: pass
class Axis:
    def get_major_formatter(self): return Formatter()
class Line2D:
    def __init__(self, xs, ys, label): self.xs, self.ys, self.label = xs, ys, label
    def get_xdata(self): return self.xs
    def get_ydata(self): return self.ys
    def get_label(self): return self.label
class Rectangle:
    def __init__(self, x, height): self.x, self.height = x, height
    def get_x(self): return self.x - 0.5
    def get_y(self): return 0
    def get_width(self): return 1
    def get_height(self): return self.height
class BarContainer:
    orientation = 'vertical'
    def __init__(self, bars): self.patches = bars
    def get_label(self): return '_container0'
class Axes:
    def __init__(self): self.lines, self.containers, self.patches, self.collections, self.xaxis = [], [], [], [], Axis()
    def get_lines(self): return self.lines
    def get_title(self): return 'Title'
    def get_xlabel(self): return 'X'
    def get_ylabel(self): return ''
    def get_xscale(self): return 'linear'
    def get_yscale(self): return 'log'
class Figure:
    def __init__(self): self.stale, self.axes, self.closed = True, [Axes()], False
    def get_axes(self): return self.axes
    def savefig(self, file, format): file.write(b'picture')
    def __repr__(self): return '<Figure>'
current = Figure()
def plot(xs, ys, label='_child0'):
    current.axes[0].lines.append(Line2D(xs, ys, label))
    current.stale = True
def bar(xs, heights):
    current.axes[0].containers.append(BarContainer([Rectangle(x, h) for x, h in zip(xs, heights)]))
def figure(number): return current
def get_fignums(): return [] if current.closed else [1]
def close(which): current.closed = True
def show(): raise RuntimeError('no screen')
`;
const pandas = `
import json
class Index:
    def __init__(self, names): self.names = names
    def set_names(self, names): return Index(names)
class DataFrame:
    ndim = 2
    def __init__(self, columns, rows, index=Index([None])): self.columns, self.rows, self.index = columns, rows, index
    def __repr__(self): return '   a\\n0  1'
    def _repr_html_(self): return '<table></table>'
    @property
    def shape(self): return len(self.rows), len(self.columns)
    @property
    def iloc(self): return self
    def __getitem__(self, part):
        rows, columns = part
        return DataFrame(self.columns[columns], [row[columns] for row in self.rows[rows]], self.index)
    def to_json(self, orient):
        names = self.index.names
        default = 'index' if len(names) == 1 else 'level_{}'
        fields = [name or default.format(level) for level, name in enumerate(names)] + self.columns
        rows = [dict(zip(fields, [number] * len(names) + row)) for number, row in enumerate(self.rows)]
        return json.dumps({'schema': {'fields': [{'name': name} for name in fields]}, 'data': rows})
`;

type Input = { readonly language?: 'python' | 'node'; readonly context?: string; readonly code: string };
type Fields = Readonly<Record<string, unknown>>;
const run = async (input: Input): Promise<Fields> =>
  (await call({ results: true, ...input })).structuredContent ?? {};
const call = (input: Input & { readonly results?: boolean }): Promise<ToolResult> =>
  sandbox.callTool('execute_code', { language: 'python', timeout: 20, ...input });
const results = async (code: string, language: 'python' | 'node' = 'python'): Promise<unknown> =>
  (await run({ language, code }))['results'];

test('a value is text, and JSON where it is a list or an object', async () => {
  expect(await results('1 + 1')).toEqual([{ 'text/plain': '2' }]);
  expect(await results('[1, {"a": None}]')).toEqual([
    { 'text/plain': "[1, {'a': None}]", 'application/json': [1, { a: null }] },
  ]);
  expect(await results('[float("nan")]')).toEqual([{ 'text/plain': '[nan]' }]);
  expect(await results('[{ a: new Date(0) }]', 'node')).toEqual([
    {
      'text/plain': '[ { a: 1970-01-01T00:00:00.000Z } ]',
      'application/json': [{ a: '1970-01-01T00:00:00.000Z' }],
    },
  ]);
  expect(await results('const loop = {}; loop.loop = loop; loop', 'node')).toEqual([
    { 'text/plain': '<ref *1> { loop: [Circular *1] }' },
  ]);
  expect(await results('x = 1')).toEqual([]);
  const forked = 'import os\npid = os.fork()\nif pid: os.wait()\npid == 0';
  expect(await results(forked)).toEqual([{ 'text/plain': 'False' }]);
});

test('a value of Python has the forms that it says it has', async () => {
  const code = `
class Rich:
    def __repr__(self): return 'rich'
    def _repr_html_(self): return '<b>', {'isolated': True}
    def _repr_latex_(self): return '$x$'
    def _repr_markdown_(self): return None
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'abc'
    def _repr_json_(self): return {'a': 1}
class Bundle:
    def __repr__(self): return 'bundle'
    def _repr_mimebundle_(self, include, exclude): return {'application/vnd.vega.v5+json': {'mark': 'bar'}}
    def _repr_html_(self): raise ValueError('no')
`;
  await run({ code });
  expect(await results('Rich()')).toEqual([
    {
      ...{ 'text/plain': 'rich', 'text/html': '<b>', 'text/latex': '$x$', 'image/svg+xml': '<svg/>' },
      ...{ 'image/png': 'YWJj', 'application/json': { a: 1 } },
    },
  ]);
  expect(await run({ code: 'Bundle()' })).toMatchObject({
    exit_code: 0,
    stderr: '_repr_html_: ValueError: no\n',
    results: [{ 'text/plain': 'bundle', 'application/vnd.vega.v5+json': { mark: 'bar' } }],
  });
  expect(await results('Rich')).toEqual([{ 'text/plain': "<class '__main__.Rich'>" }]);
  expect(await results('display(1, "a"); display({"text/plain": "raw"}, raw=True); 2')).toEqual(
    ['1', "'a'", 'raw', '2'].map((text) => ({ 'text/plain': text })),
  );
  expect(await run({ code: 'class Bad:\n  def __repr__(self): return 1 / 0\nBad()' })).toMatchObject({
    exit_code: 1,
    error_line: 'ZeroDivisionError: division by zero',
    results: [],
  });
});

test('a value of Node has the forms that it says it has', async () => {
  const code = `
class Rich {
  [Symbol.for('sallyport.display')]() {
    return { 'text/html': '<b>', 'image/png': new Uint8Array([97, 98, 99]), 'application/json': { a: 1 } }
  }
}
display(new Rich()); display('application/vnd.vega.v5+json', { mark: 'bar' }); display(Symbol('s'))
new Rich()`;
  const rich = {
    ...{ 'text/plain': 'Rich {}', 'text/html': '<b>', 'image/png': 'YWJj', 'application/json': { a: 1 } },
  };
  expect(await results(code, 'node')).toEqual([
    rich,
    { 'application/vnd.vega.v5+json': { mark: 'bar' } },
    { 'text/plain': 'Symbol(s)' },
    rich,
  ]);
  expect(
    await run({ language: 'node', code: '({ get [Symbol.for("sallyport.display")]() { throw 5 } })' }),
  ).toMatchObject({ exit_code: 1, error_line: 'Uncaught 5' });
  const endless = '({ [Symbol.for("sallyport.display")]() { for (;;) {} } })';
  await run({ language: 'node', code: 'let kept = 1' });
  const input = { language: 'node', code: endless, timeout: 1 } as const;
  expect((await call(input)).structuredContent).toMatchObject({ error: { type: 'execution_timeout' } });
  expect(await run({ language: 'node', code: 'kept' })).not.toHaveProperty('state_lost');
});

const table = 'application/vnd.dataresource+json';
type Table = { readonly data: readonly object[]; readonly rows: number; readonly columns: number };

test('a table is also rows with a schema', async () => {
  expect(await results('import pandas\npandas.DataFrame(["a"], [[1]])')).toEqual([
    {
      'text/plain': '   a\n0  1',
      'text/html': '<table></table>',
      [table]: {
        schema: { fields: [{ name: 'index' }, { name: 'a' }] },
        data: [{ index: 0, a: 1 }],
        ...{ rows: 1, columns: 1 },
      },
    },
  ]);
});

test('a row has one value under one name', async () => {
  const columns = '["index", "a", "a", ("a", "mean"), ("b", ""), 0]';
  const code = `frame = pandas.DataFrame(${columns}, [[1, 2, 3, 4, 5, 6]], pandas.Index([None, None, "b"]))\nframe`;
  const [one] = (await results(code)) as Readonly<Record<string, Table>>[];
  expect(one?.[table]?.data).toEqual([
    {
      ...{ level_0: 0, level_1: 0, 'b.1': 0, index: 1, a: 2 },
      ...{ 'a.1': 3, 'a / mean': 4, b: 5, 0: 6 },
    },
  ]);
  expect(await results('frame.columns')).toMatchObject([
    { 'text/plain': expect.stringContaining("'a', 'a',") },
  ]);
});

test('a table has the rows and columns that fit, and the size of the whole', async () => {
  const [long, wide] = (await results(
    'display(pandas.DataFrame(["a"], [[1]] * 5000))\npandas.DataFrame(list(range(300)), [[0.123456789] * 300] * 500)',
  )) as Readonly<Record<string, Table>>[];
  expect(long?.[table]).toMatchObject({ rows: 5000, columns: 1 });
  expect(long?.[table]?.data).toHaveLength(1000);
  expect(wide?.[table]).toMatchObject({ rows: 500, columns: 300 });
  const { data = [] } = wide?.[table] ?? {};
  expect(Object.keys(data[0] ?? {})).toHaveLength(201);
  expect(data.length).toBeGreaterThan(10);
  expect(JSON.stringify(data).length).toBeLessThan(256 * 1024);
});

test('a figure is a picture and the data of its chart, shown when it has changed', async () => {
  const figure = (type: string, series: readonly object[]) => ({
    'text/plain': '<Figure>',
    'image/png': Buffer.from('picture').toString('base64'),
    'application/vnd.sallyport.chart+json': {
      ...{ type, title: 'Title', series },
      axes: { x: { label: 'X', scale: 'linear' }, y: { label: '', scale: 'log' } },
    },
  });
  const line = { type: 'line', label: '', points: [[1, 2.5]] };
  const values = [{ label: 1, value: 4 }];
  const bar = { type: 'bar', label: '', direction: 'vertical', values };
  // Without what another try has drawn.
  const begun = 'import matplotlib.pyplot as plt\nplt.current = plt.Figure()';
  expect(await results(`${begun}\nplt.plot([1], [2.5])`)).toEqual([figure('line', [line])]);
  expect(await results('1')).toEqual([{ 'text/plain': '1' }]);
  expect(await results('plt.bar([1], [4])\nplt.figure(1)')).toEqual([figure('mixed', [line, bar])]);
  const { content } = await call({ code: 'plt.show()' });
  expect(content.slice(1)).toEqual([
    { type: 'image', mimeType: 'image/png', data: figure('', [])['image/png'] },
    forPeople('application/vnd.sallyport.chart+json', expect.stringContaining('"title":"Title"')),
  ]);
});

const forPeople = (mimeType: string, text: unknown) => ({
  type: 'resource',
  resource: { uri: 'sallyport:result', mimeType, text },
  annotations: { audience: ['user'] },
});

test('a person sees a table, as far as it fits into a frame, where a model reads text', async () => {
  const { content } = await call({ code: 'import pandas\npandas.DataFrame(["a"], [["x" * 100]] * 900)' });
  expect(content).toEqual([
    { type: 'text', text: '   a\n0  1' },
    forPeople(table, expect.stringContaining('"rows":900')),
  ]);
  const { resource } = content[1] as unknown as { readonly resource: { readonly text: string } };
  const shown = JSON.parse(resource.text) as Table;
  expect(shown.data.length).toBeGreaterThan(50);
  expect(resource.text.length).toBeLessThan(12 * 1024 + 1);
  const forged = [
    '[1]',
    'null',
    'no JSON',
    '{"data": 1}',
    JSON.stringify({ data: [], schema: 'x'.repeat(20_000) }),
  ];
  for (const text of forged)
    expect(
      toBlocks([{ isValue: true, parts: [{ mimeType: table, content: Buffer.from(text) }] }], 0),
    ).toEqual([]);
});

test('a model sees the value at the end of the text, an image as an image', async () => {
  const answer = await call({ code: 'print("out")\ndisplay("text/html", "<b>")\n"value"' });
  expect(answer.structuredContent).toMatchObject({ stdout: 'out\n', value: "'value'" });
  expect(answer.content).toEqual([
    { type: 'text', text: "out\n'value'" },
    { type: 'text', text: '<b>' },
  ]);
  const picture = 'class Pic:\n  def _repr_png_(self): return b"abc"\nPic()';
  expect((await call({ code: picture })).content).toEqual([
    { type: 'text', text: '' },
    { type: 'image', mimeType: 'image/png', data: 'YWJj' },
  ]);
  expect((await call({ code: picture, results: true })).content).toHaveLength(1);
});

test('results have bounds, and what is left of one is its text', async () => {
  const many = await run({ code: 'for i in range(10): display(i)\n"last"' });
  expect(many).toMatchObject({ results_left_out: 2 });
  expect(many['results']).toHaveLength(9);
  const long = (await results('"x" * 300_000')) as Readonly<Record<string, string>>[];
  expect(long[0]?.['text/plain']).toMatch(/^'x{131071}… \(168930 characters more\)$/);
  const large = `
class Large:
    def __repr__(self): return 'large'
    def _repr_png_(self): return b'x' * 5_000_000
    def _repr_html_(self): return 'y' * 1_000_000
Large()`;
  const [left] = (await results(large)) as Readonly<Record<string, string>>[];
  expect(Object.keys(left ?? {})).toEqual(['text/plain', 'text/html']);
  expect(await results('display("image/png", b"x" * 4_000_000)\nLarge()')).toEqual([
    expect.objectContaining({ 'image/png': expect.any(String) }),
    { 'text/plain': 'large' },
  ]);
  const json = 'display("application/json", ["x" * 300_000]); display("application/json", ["x" * 300_000])';
  expect(await run({ code: json })).toMatchObject({ results_left_out: 1 });
  expect(await results('[list(range(1000))] * 1000')).toEqual([{ 'text/plain': expect.any(String) }]);
});

test('a forged result is no more than its bytes', () => {
  const part = (mimeType: string, text: string) => ({ mimeType, bytes: text.length });
  const texts = ['['.repeat(1000), '{"a": 1}', 'no JSON', '"[[["', '['.repeat(150) + ']'.repeat(150)];
  const parts = texts.map((text) => part('application/json', text));
  const forged = (shape: object): Exit => ({ results: [{ isValue: true, ...shape }] }) as unknown as Exit;
  const payload = Buffer.from(texts.join(''));
  const bundles = parts.map((one, index) =>
    toBundles(
      readResults(forged({ parts: [one] }), Buffer.from(payload.toString().slice(startOf(texts, index)))),
    ),
  );
  expect(bundles.map(([bundle]) => Object.keys(bundle ?? {}).length)).toEqual([0, 1, 0, 1, 1]);
  const beyond = readResults(forged({ parts: [part('text/plain', 'x'.repeat(1e6))] }), Buffer.from('abc'));
  expect(toBundles(beyond)).toEqual([{ 'text/plain': 'abc' }]);
  expect(toBlocks(beyond, 0)).toEqual([]);
});

const startOf = (texts: readonly string[], index: number): number => texts.slice(0, index).join('').length;

test('W12: contexts share no definitions and run at once', async () => {
  await Promise.all(
    ['one', 'two'].map((context) => run({ context, code: `name = "${context}"; import os, time` })),
  );
  const slow = run({ context: 'one', code: 'while not os.path.exists("went"): time.sleep(0.02)\nname' });
  // If one waited for the other, it would wait for ever.
  expect(await run({ context: 'two', code: 'open("went", "w").close(); name' })).toMatchObject({
    results: [{ 'text/plain': "'two'" }],
  });
  expect(await slow).toMatchObject({ results: [{ 'text/plain': "'one'" }] });
  expect(await run({ code: 'name' })).toMatchObject({ error_line: "NameError: name 'name' is not defined" });
  const refused = await call({ context: 'a b', code: '1' });
  expect(refused.content[0]?.text).toContain('a context has 1 to 64 letters');
});

const remove = async (path: string): Promise<number> => (await sandbox.ask('DELETE', path)).status;

test('a context that is deleted is another one at its next use, without a loss', async () => {
  await run({ context: 'gone', code: 'kept = 1' });
  await run({ context: 'gone', language: 'node', code: 'let kept = 1' });
  expect(await remove('/contexts/gone?language=python')).toBe(204);
  expect(await run({ context: 'gone', code: '"kept" in globals()' })).toEqual(
    expect.objectContaining({ results: [{ 'text/plain': 'False' }] }),
  );
  expect(await run({ context: 'gone', language: 'node', code: 'kept' })).toMatchObject({
    results: [{ 'text/plain': '1' }],
  });
  const endless = run({ context: 'gone', code: 'while True: pass' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await remove('/contexts/gone')).toBe(204);
  expect(await endless).toMatchObject({ exit_code: 137, state_lost: true });
  expect(await run({ context: 'gone', code: '1' })).not.toHaveProperty('state_lost');
  expect(await remove('/contexts/never')).toBe(404);
  expect(await remove('/contexts/a%20b')).toBe(400);
  expect(await remove('/contexts/gone?language=ruby')).toBe(400);
});

test('W12: of nine contexts the longest idle loses its state, which is said once', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `n${index}`);
  for (const context of names.slice(0, 8)) await run({ context, code: `x = 1` });
  await run({ context: 'n0', code: 'x' });
  await run({ context: 'n8', code: 'x = 1' });
  for (const context of ['n0', 'n8'])
    expect(await run({ context, code: 'x' })).not.toHaveProperty('state_lost');
  expect(await run({ context: 'n1', code: '"x" in globals()' })).toMatchObject({
    state_lost: true,
    results: [{ 'text/plain': 'False' }],
  });
  expect(await run({ context: 'n1', code: '1' })).not.toHaveProperty('state_lost');
});

test('a ninth context is refused while eight run code', async () => {
  const free = crypto.randomUUID();
  const end = () => writeFile(join(sandbox.workspace, free), '');
  onTestFinished(end);
  const wait = (begun: string): string =>
    `import os, time\nopen("${begun}", "w").close()\nwhile not os.path.exists("${free}"): time.sleep(0.05)`;
  const begun = Array.from({ length: 8 }, (_, index) => `${free}-${index}`);
  const busy = begun.map((name, index) => run({ context: `b${index}`, code: wait(name) }));
  await waitFor(async () => begun.every((name) => existsSync(join(sandbox.workspace, name))));
  const refused = await call({ context: 'b8', code: '1' });
  expect(refused.content[0]?.text).toContain('8 contexts run code already');
  await end();
  for (const one of await Promise.all(busy)) expect(one).toMatchObject({ exit_code: 0 });
});
