/** A module with the texts of one language: see console/languages.ts. */
declare module '*?language=en' {}
declare module '*?language=de' {}
