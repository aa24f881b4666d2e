/** A piece of highlighted code: its text, and what it is, as a class. */
export type CodePiece = { readonly text: string; readonly scope: string };
