/** A piece of highlighted code: its text and its class. */
export type CodePiece = { readonly text: string; readonly scope: string };
