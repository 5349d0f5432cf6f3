/** Denials and the life of a message. */
export const denials = {}
