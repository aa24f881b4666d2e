/**
 * The allow list of system calls and what else stands between user code and the runner, from both sides: what is
 * refused (W6, W7 and W9 of docs/spec/sandbox.md), and what people work with goes on.
 */
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EcsEndpoint } from '../../local/ecs/start.ts';
import { type AttackedSandbox, awaitAddress, startHost, startSandbox } from './sandbox-fixture.ts';

let ecs: EcsEndpoint;
let sandbox: AttackedSandbox;

beforeAll(async () => {
  const events = awaitAddress();
  const home = await mkdtemp(join(tmpdir(), 'sallyport-calls-'));
  ecs = await startHost({ home, onTaskEvent: events.take });
  sandbox = await startSandbox(ecs, events);
});
afterAll(() => ecs.stop());

/** Runs a Python program as a command, so that its parent is the runner. */
const python = async (program: string): Promise<string> => {
  await sandbox.call('write_file', { path: 'program.py', content: program });
  return sandbox.run('exec python3 program.py 2>&1');
};

const calling = `
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == 'aarch64'
def ask(numbers, *args):
    number = numbers[1] if arm else numbers[0]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args])
    return errno.errorcode.get(ctypes.get_errno(), 'done') if result == -1 else 'done'
def attempt(work):
    try: work(); return 'done'
    except OSError as e: return errno.errorcode[e.errno]
runner = os.getppid()
`;

test('W9: the runner cannot be traced, read or written, and no descriptor of it can be taken', async () => {
  const text = await python(`${calling}
assert 'runner.mjs' in open(f'/proc/{runner}/cmdline').read()
buffer = ctypes.create_string_buffer(16)
vector = (ctypes.c_ulong * 2)(ctypes.addressof(buffer), 16)
at = ctypes.addressof(vector)
pidfd = os.pidfd_open(runner)
print('attach', ask((101, 117), 16, runner, 0, 0))
print('seize', ask((101, 117), 0x4206, runner, 0, 0))
print('read', ask((310, 270), runner, at, 1, at, 1, 0))
print('write', ask((311, 271), runner, at, 1, at, 1, 0))
print('getfd', ask((438, 438), pidfd, 3, 0))
print('kcmp', ask((312, 272), runner, os.getpid(), 0, 0, 0))
for name in ['mem', 'environ', 'auxv', 'maps', 'fd/3', 'fd/0', 'root', 'cwd', 'exe']:
    print(name, attempt(lambda: os.open(f'/proc/{runner}/{name}', os.O_RDONLY)))
print('list', attempt(lambda: os.listdir(f'/proc/{runner}/fd')))
print('overwrite', attempt(lambda: os.open(f'/proc/{runner}/mem', os.O_RDWR)))
print('score', attempt(lambda: open(f'/proc/{runner}/oom_score_adj', 'w')))
`);
  expect(
    Object.fromEntries(
      text
        .trim()
        .split('\n')
        .map((line) => line.split(' ')),
    ),
  ).toEqual({
    attach: 'EPERM',
    seize: 'EPERM',
    read: 'EPERM',
    write: 'EPERM',
    getfd: 'EPERM',
    kcmp: 'EPERM',
    mem: 'EACCES',
    environ: 'EACCES',
    auxv: 'EACCES',
    maps: 'EACCES',
    'fd/3': 'EACCES',
    'fd/0': 'EACCES',
    root: 'EACCES',
    cwd: 'EACCES',
    exe: 'EACCES',
    list: 'EACCES',
    overwrite: 'EACCES',
    score: expect.stringMatching(/^(?:EROFS|EACCES)$/),
  });
});

test('W9: each language of code has the same runner', async () => {
  const inPython = await sandbox.runCode(
    'python',
    `${calling}
print(ask((101, 117), 16, runner, 0, 0), attempt(lambda: os.open(f'/proc/{runner}/mem', os.O_RDWR)))`,
  );
  const inNode = await sandbox.runCode(
    'node',
    "try { require('node:fs').openSync('/proc/' + process.ppid + '/mem', 'r+'); } catch ({ code }) { console.log(code); }",
  );
  expect([inPython, inNode]).toEqual(['EPERM EACCES\n', 'EACCES\n']);
});

test('W7: the kernel refuses calls that are not on the list', async () => {
  const text = await python(`${calling}
refused = dict(
  io_uring_setup=(425, 425), bpf=(321, 280), perf_event_open=(298, 241), userfaultfd=(323, 282),
  keyctl=(250, 219), add_key=(248, 217), request_key=(249, 218), mount=(165, 40), umount=(166, 39),
  pivot_root=(155, 41), chroot=(161, 51), unshare=(272, 97), setns=(308, 268), open_tree=(428, 428),
  fsopen=(430, 430), move_mount=(429, 429), mount_setattr=(442, 442), quotactl=(179, 60), acct=(163, 89),
  syslog=(103, 116), fanotify_init=(300, 262), memfd_secret=(447, 447), open_by_handle_at=(304, 265),
  name_to_handle_at=(303, 264), init_module=(175, 105), kexec_load=(246, 104), swapon=(167, 224),
  sethostname=(170, 161), reboot=(169, 142), clock_settime=(227, 112), open_tree_attr=(467, 467))
for name, numbers in refused.items():
    print(name, ask(numbers, 0, 0, 0, 0, 0, 0))
if not arm:
    for name, number in dict(modify_ldt=154, iopl=172, ioperm=173, x32_read=0x40000000).items():
        print(name, ask((number, 0), 0, 0, 0))
for family in [17, 38, 40, 44, 31, 29, 30, 15, 21, 43]:
    print('family', family, ask((41, 198), family, 1, 0))
print('netlink audit', ask((41, 198), 16, 3, 9))
for flag in [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]:
    print('clone', hex(flag), ask((56, 220), flag | 17, 0, 0, 0, 0))
`);
  const answers = text.trim().split('\n');
  expect(answers.length).toBeGreaterThanOrEqual(49);
  expect(answers.filter((line) => !line.endsWith(' EPERM'))).toEqual([]);
});

test('W7: a call of another architecture ends the process', async () => {
  const text = await python(`
import ctypes, mmap, platform
if platform.machine() != 'x86_64': print('ended')
else:
    import os
    pid = os.fork()
    if pid == 0:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))  # mov eax, 20 (getpid of i386); int 0x80; ret
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    print('ended' if os.WIFSIGNALED(status) and os.WTERMSIG(status) == 31 else status)
`);
  expect(text).toBe('ended\n');
});

test('W6: no System V IPC or message queue can outlive its call, because there is none', async () => {
  const text = await python(`${calling}
for name, numbers in dict(shmget=(29, 194), semget=(64, 190), msgget=(68, 186), mq_open=(240, 180)).items():
    print(name, ask(numbers, 0, 1 << 20, 0o1600, 0))
`);
  expect(text).toBe('shmget ENOSYS\nsemget ENOSYS\nmsgget ENOSYS\nmq_open ENOSYS\n');
});

test('W6: shared memory in /dev/shm is bounded', async () => {
  expect(
    await sandbox.run('head -c 100M /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x; rm /dev/shm/x'),
  ).toMatch(/No space left on device[\s\S]*|67108864/);
});

test('the programs of this test are installed', () => {
  const programs = ['gcc', 'make', 'git', 'npm', 'curl', 'tar', 'python3'];
  expect(programs.filter((name) => !existsSync(`/usr/bin/${name}`))).toEqual([]);
});

test('Python has threads, processes, locks, shared memory and subprocesses', async () => {
  const text = await python(`
import asyncio, concurrent.futures, multiprocessing, socket, sqlite3, ssl, subprocess, tempfile, threading
from multiprocessing import shared_memory
def square(n): return n * n
if __name__ == '__main__':
    with multiprocessing.Pool(3) as pool: print(sum(pool.map(square, range(10))))
    with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(square, range(10))))
    queue = multiprocessing.Queue(); lock = multiprocessing.Lock()
    process = multiprocessing.Process(target=queue.put, args=(7,)); process.start(); print(queue.get()); process.join()
    memory = shared_memory.SharedMemory(create=True, size=4096); memory.buf[0] = 9; print(memory.buf[0]); memory.close(); memory.unlink()
    async def ask():
        child = await asyncio.create_subprocess_exec('echo', 'child', stdout=subprocess.PIPE)
        return (await child.communicate())[0].decode().strip()
    print(asyncio.run(ask()))
    database = sqlite3.connect(tempfile.mktemp()); database.execute('create table t (a)'); database.commit(); print('sqlite')
    one, other = socket.socketpair(); one.send(b'x'); print(other.recv(1).decode())
`);
  expect(text).toBe('285\n285\n7\n9\nchild\nsqlite\nx\n');
});

test('Node has workers, children, servers and watched files', async () => {
  const code = `
const { Worker } = require('node:worker_threads');
const { execFileSync, fork } = require('node:child_process');
const fs = require('node:fs'), http = require('node:http'), os = require('node:os');
const worker = new Worker("require('node:worker_threads').parentPort.postMessage(40 + 2)", { eval: true });
console.log(await new Promise((resolve) => worker.once('message', resolve)));
console.log(execFileSync('node', ['-e', 'console.log(process.version === ' + JSON.stringify(process.version) + ')']).toString().trim());
const server = http.createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text());
server.close();
const watched = fs.mkdtempSync('/tmp/w');
const changed = new Promise((resolve) => { const watcher = fs.watch(watched, () => { watcher.close(); resolve('changed'); }); });
fs.writeFileSync(watched + '/x', '');
console.log(await changed, Object.keys(os.networkInterfaces()).length >= 0);
`;
  expect(await sandbox.runCode('node', code)).toMatch(/^42\ntrue\nserved\nchanged true\n/);
});

test('npm installs a package from a folder and from a tarball, and runs a script', async () => {
  const text = await sandbox.run(`
set -e
rm -rf /tmp/n && mkdir -p /tmp/n/dep /tmp/n/app && cd /tmp/n/dep
echo '{"name":"dep","version":"1.2.3","main":"index.js"}' > package.json; echo 'module.exports = 6 * 7' > index.js
npm pack --silent --offline
cd ../app; echo '{"name":"app","version":"1.0.0","scripts":{"ask":"node ask.js"}}' > package.json; echo 'console.log(require("dep"))' > ask.js
npm install --offline --no-audit --no-fund --silent ../dep/dep-1.2.3.tgz
npm run --silent ask`);
  expect(text).toBe('dep-1.2.3.tgz\n42\n');
});

test('git makes a repository, commits, packs, clones and shows', async () => {
  const text = await sandbox.run(`
set -e
rm -rf /tmp/g && mkdir /tmp/g && cd /tmp/g && git init -q -b main one && cd one
git config user.name n && git config user.email n@example.com
for n in 1 2 3; do seq 1000 > f$n; git add -A; git commit -qm "c$n"; done
git gc -q --aggressive; git fsck --no-progress; cd .. && git clone -q one two && git -C two log --oneline | wc -l
cd two && git checkout -q -b side && git -c user.name=n -c user.email=n@example.com commit -q --allow-empty -m side && git push -q origin side && git -C ../one branch | wc -l`);
  expect(text).toBe('3\n2\n');
});

test('gcc compiles, make builds side by side, tar packs, curl fetches', async () => {
  const text = await sandbox.run(`
set -e
rm -rf /tmp/c && mkdir /tmp/c && cd /tmp/c
printf '#include <pthread.h>\\n#include <stdio.h>\\nvoid *say(void *x) { puts(x); return 0; }\\nint main(void) { pthread_t t; pthread_create(&t, 0, say, "thread"); pthread_join(t, 0); return 0; }\\n' > a.c
printf 'int two(void) { return 2; }\\n' > b.c
printf 'all: a.o b.o\\n\\tgcc -o a a.o b.o -lpthread\\n%%.o: %%.c\\n\\tgcc -O2 -c $< -o $@\\n' > Makefile
make -s -j4 && ./a
tar czf x.tgz a.c b.c && mkdir out && tar xzf x.tgz -C out && ls out | wc -l
python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & server=$!
for n in $(seq 50); do curl -sf http://127.0.0.1:8123/b.c && break; sleep 0.1; done
kill $server`);
  expect(text).toBe('thread\n2\nint two(void) { return 2; }\n');
});

test('W6: a call gets the memory error also when the runner died with it', async () => {
  const command = 'python3 -c "x = bytearray(600 << 20)"; kill -9 $PPID; sleep 5';
  expect(await sandbox.call('execute_command', { command })).toMatchObject({
    status: 'failed',
    code: 'resource_limit_exceeded',
    message: expect.stringContaining('out of memory'),
  });
  await expect.poll(() => sandbox.run('echo back'), { timeout: 50_000 }).toBe('back\n');
});
