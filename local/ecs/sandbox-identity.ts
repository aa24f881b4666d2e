/** Who sandboxes are on the host when we are root: a user that only one of them has, and a group for what they share. */

/** Ids no other program of the machine has. */
const firstUid = 1_761_000_000;
const uidsMax = 60_000;
/** Owns the shared volume; each sandbox has it instead of a group of its own when there is one. */
export const sharedGid = 1_760_999_999;

export type Identity = { readonly uid: number; readonly gid: number };

let lastUid = 0;

/** Undefined without root: every sandbox is then who we are. */
export const nextIdentity = (isSharing: boolean): Identity | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  lastUid = (lastUid + 1) % uidsMax;
  const uid = firstUid + lastUid;
  return { uid, gid: isSharing ? sharedGid : uid };
};

export const asIdentity = ({ uid, gid }: Identity): readonly string[] => [
  'setpriv',
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
];
