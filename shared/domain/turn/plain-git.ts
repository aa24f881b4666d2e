/**
 * Recognizes plain git lines: one git command, of subcommands and options that start no program and write no file that
 * their line names. An option that is not in the table is not plain, nor is an abbreviation of one that is.
 *
 * Git's configuration decides what it does beside that (hooks, drivers, a monitor): the files that git reads are known by
 * name here, and their edit is not plain either.
 */

/** Words without shell syntax: no quote, no glob, nothing that ends a command or starts another. */
const plainLine = /^git( [\w./:=@^~,+-]+)+$/;

const listing = '-p --patch --stat --shortstat --numstat --name-only --name-status --oneline --graph --all';
const diffing = `${listing} --no-patch -s --cached --staged -w -b -M --minimal --patience --histogram --word-diff --color= -U`;
const choosing = '-n --max-count= --skip= --since= --until= --author= --grep= --reverse --merges --no-merges';
const logging = `${diffing} ${choosing} --first-parent --follow --decorate --abbrev-commit --pretty= --format= --date=`;
const applying = '-n --no-commit --no-edit --abort --quit --skip';

/**
 * Long names as they are written, those that end in `=` with a value; single letters, alone or in a row, followed
 * by a number or not. Letters mean different things to different subcommands: `-s` of merge would name a program.
 */
// biome-ignore format: a table is read by row
const options: Readonly<Record<string, string>> = {
  add: '-A -u -n -v -f -N --all --update --dry-run --verbose --force --intent-to-add',
  blame: '-w -s -e -l -t -M -C -L',
  branch: '-a -r -v -d -D -m -f -l -q --all --remotes --list --delete --force --move --show-current --verbose --merged --no-merged',
  checkout: '-b -B -f -q --ours --theirs --detach --force --quiet --orphan',
  'cherry-pick': `${applying} -x`,
  commit: '-a -m -q -s -v --all --message= --amend --no-edit --allow-empty --quiet --signoff --dry-run',
  diff: diffing,
  log: logging,
  'ls-files': '-c -d -m -o -s --cached --deleted --modified --others --stage --exclude-standard',
  merge: '-m -q --no-ff --ff --ff-only --squash --no-commit --no-edit --abort --quit --quiet',
  mv: '-f -k -n -v --force --dry-run --verbose',
  reset: '-q --soft --mixed --hard --keep --merge --quiet',
  restore: '-s -S -W -q --source= --staged --worktree --ours --theirs --quiet',
  'rev-parse': '-q --short --abbrev-ref --verify --show-toplevel --show-prefix --is-inside-work-tree --quiet',
  revert: applying,
  rm: '-f -n -q -r --cached --force --dry-run --quiet',
  shortlog: '-n -s -e --numbered --summary --email',
  show: logging,
  stash: '-k -m -q -u --message= --keep-index --include-untracked --index --quiet --stat',
  status: '-s -b -u -v --short --branch --porcelain --porcelain= --untracked-files= --ignored --verbose',
  switch: '-c -C -d -f -q --create --detach --discard-changes --orphan --quiet',
  tag: '-a -d -f -l -m -n --annotate --delete --force --list --message= --sort=',
};

const allowed = new Map(
  Object.entries(options).map(([command, names]) => [command, new Set(names.split(' '))] as const),
);

/** Also behind `--`, which an option before it may take for its value. */
const isKnown = (known: ReadonlySet<string>, option: string): boolean => {
  if (option === '--' || option === '-') return true;
  const [, letters] = /^-([A-Za-z]*)\d*$/.exec(option) ?? [];
  if (letters !== undefined) return [...letters].every((letter) => known.has(`-${letter}`));
  const [, name = '', value] = /^(--[^=]+)(=.*)?$/.exec(option) ?? [];
  return known.has(value === undefined ? name : `${name}=`);
};

/** Git's own files: they name programs that the next git command starts. The home of user code is the workspace. */
const ownFile = /(^|\/)\.(git|gitconfig|config)(\/|$)/i;

export const isGitsOwn = (path: string): boolean => ownFile.test(path);

export const isPlainGitLine = (line: string): boolean => {
  if (!plainLine.test(line)) return false;
  const [, command = '', ...words] = line.split(' ');
  const known = allowed.get(command);
  return (
    known !== undefined &&
    words.every((word) => !isGitsOwn(word) && (!word.startsWith('-') || isKnown(known, word)))
  );
};
