/** What the build tool puts into this program. */
declare module '*.css';
