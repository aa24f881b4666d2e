/** Modules that the build tool provides. */
declare module '*.css';
