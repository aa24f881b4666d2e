/**
 * What a tool call would do, as a person must see it before saying yes.
 *
 * Pure. A model may have been talked into a call that looks like another one, so characters that are invisible
 * or turn the direction of text are shown by their number, and nothing is left out.
 * @import { JsonObject } from '#shared/domain/json.ts'
 */

/**
 * @typedef {{ readonly title: string, readonly details: string }} CallSummary
 */

/** Control characters but tab and line break, and all that formats without a shape: bidi marks, zero widths. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const isShown = new Set(['\t', '\n']);

/**
 * @param {string} text
 * @returns {string}
 */
export const showHidden = (text) =>
  text.replace(hidden, (character) => {
    if (isShown.has(character)) return character;
    const number = character.codePointAt(0) ?? 0;
    return `⟦U+${number.toString(16).toUpperCase().padStart(4, '0')}⟧`;
  });

/**
 * @param {string} name
 * @param {JsonObject} args
 * @returns {CallSummary}
 */
export const summarizeCall = (name, args) => {
  const { timeout, ...acts } = args;
  const { title, details } = typeof timeout === 'number' ? describe(name, acts) : describe(name, args);
  const limit = typeof timeout === 'number' ? `, ${timeout} s at most` : '';
  return { title: showHidden(title + limit), details: showHidden(details) };
};

/**
 * @param {string} name
 * @param {JsonObject} args
 * @returns {CallSummary}
 */
const describe = (name, args) => {
  const { command, code, language, path, content, ...others } = args;
  if (name === 'execute_command' && isText(command) && isBare(others))
    return { title: 'Run a command', details: command };
  if (name === 'execute_code' && isText(code) && isText(language) && isBare(others))
    return { title: `Run ${languageNames[language] ?? language} code`, details: code };
  if (name === 'write_file' && isText(path) && isText(content) && isBare(others))
    return { title: `Write ${path}`, details: content };
  if (name === 'read_file' && isText(path) && isBare(others)) return { title: `Read ${path}`, details: '' };
  if (name === 'list_files' && isBare(others))
    return { title: `List ${isText(path) ? path : 'the workspace'}`, details: '' };
  return { title: `Call ${name}`, details: JSON.stringify(args, null, 2) };
};

/** @type {Readonly<Record<string, string>>} */
const languageNames = { python: 'Python', node: 'Node.js' };

/**
 * @param {unknown} value
 * @returns {value is string}
 */
const isText = (value) => typeof value === 'string';

/**
 * An argument that a summary would not show makes it no summary.
 * @param {JsonObject} others
 * @returns {boolean}
 */
const isBare = (others) => Object.keys(others).length === 0;
