/** What a newcomer may click instead of writing: things the provider at hand can do, and one it cannot. */
export type Example = { readonly title: string; readonly text: string };

const commands: readonly Example[] = [
  { title: 'Run a command', text: '$ echo "Hello from $(uname -s)" && date' },
  { title: 'Decide on two calls', text: '$ echo one > numbers.txt\n$ seq 2 5' },
  {
    title: 'Run Python',
    text: '```python\nfor n in range(1, 6):\n    print(n, "squared is", n * n)\n```',
  },
  {
    title: 'Try to get out',
    text: '```python\nimport socket\ntry:\n    socket.create_connection(("1.1.1.1", 443), timeout=3)\n    print("connected")\nexcept OSError as error:\n    print("no way out:", error)\n```',
  },
];

const tasks: readonly Example[] = [
  {
    title: 'Write and run a program',
    text: 'Write a Python program that prints the first 20 prime numbers, run it, and save it as primes.py.',
  },
  { title: 'Look around', text: 'What is in your workspace, and which interpreters do you have?' },
  { title: 'Try to get out', text: 'Try to open a connection to the internet and tell me what happens.' },
];

export const examplesFor = (provider: string): readonly Example[] => (provider === 'demo' ? commands : tasks);

/** In a preview of an example, the marks around code are noise. */
export const previewOf = (text: string): string => text.replace(/^```\w*\n?/gm, '');
