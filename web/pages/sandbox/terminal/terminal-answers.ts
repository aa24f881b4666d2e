/**
 * The answers of a terminal to a program that asks for its cursor, its colours or its kind.
 *
 * When kept output is shown again, its questions are asked again: an answer then would be typed into the shell.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with ESC (ECMA-48)
const answer = /^\x1b(?:\[[?>=]?[\d;]*(?:[cnRy]|\$y)|\]|P)/;

export const isAnswer = (data: string): boolean => answer.test(data);
