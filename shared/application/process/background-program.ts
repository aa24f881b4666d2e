/** Code as a program of its own, for the background: an interpreter without the variables of earlier calls. */
import type { Language } from '../../domain/template.ts';
import type { Program } from './start-process.ts';

export const codeProgram = (code: string, language: Language): Program =>
  language === 'node'
    ? { command: 'node', args: ['-e', code] }
    : { command: 'python3', args: ['-u', '-c', code] };
