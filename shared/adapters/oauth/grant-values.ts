/**
 * Texts of codes and tokens, and what is read from them again. The first half of a refresh token names its family, which all
 * refresh tokens of one grant share: so a former one is known, though only the newest is stored.
 */
import type { World } from '#shared/ports/world.ts';

type Hash = Pick<World, 'sha256'>;

const refreshPrefix = 'spr_';
const familyCharacters = 32;

const secretOf = (world: World): string => `${world.uuid()}${world.uuid()}`.replaceAll('-', '');

export const codeText = (world: World): string => `spc_${secretOf(world)}`;
export const accessText = (world: World): string => `spm_${secretOf(world)}`;
export const refreshText = (family: string, world: World): string =>
  `${refreshPrefix}${family}${secretOf(world)}`;

/** A code names its family before there is a grant, so that its replay can be told from another code. */
export const familyOfCode = (code: string, { sha256 }: Hash): string =>
  sha256(`family\n${code}`).slice(0, familyCharacters);

/** Undefined for a text that is no refresh token. */
export const familyOfRefresh = (text: string): string | undefined =>
  text.startsWith(refreshPrefix)
    ? text.slice(refreshPrefix.length, refreshPrefix.length + familyCharacters)
    : undefined;
