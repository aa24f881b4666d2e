/** Fields that bodies of sessions and of projects share. */
import * as z from 'zod';
import { isShortEnough } from '#shared/domain/agent-profile.ts';
import {
  clientIdCharactersMax,
  instructionsBytesMax,
  modelNameCharactersMax,
} from '#shared/domain/limits.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { hasNoNul, noNul } from '../program-fields.ts';

/** A text: an unknown name gets its own error. */
export const name = z.string().max(modelNameCharactersMax);
export const approvals = z.enum(approvalModes);
export const toolName = z.string().min(1).max(clientIdCharactersMax);
export const instructions = z
  .string()
  .refine(isShortEnough, `has at most ${instructionsBytesMax} bytes`)
  .refine(hasNoNul, noNul);
